/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/local_end.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <sys/socket.h>

#define LOOK_US	     5000000
#define SOCKET_BYTES (64 << 10) /* in each direction, in the kernel */

/* Called by OpenSSL. Without an alert, so that the other side does not take it for a refusal. */
static int on_client_hello(SSL *tls, int *alert, void *unused)
{
	struct wv_link *link = SSL_get_app_data(tls);

	(void)alert;
	(void)unused;
	link->begun = true;
	return link->events->begun(link) ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_RETRY;
}

struct reading {
	struct wv_work work;
	struct wv_local_end *local;
	struct wv_tls_files files;
	uint64_t old_stamp, stamp;
	bool failed; /* the last time */
	SSL_CTX *context;
	char why[WV_TLS_WHY];
};

/*
 * In a thread: the disk may be slow. What failed is tried again although the files are the same:
 * the reason may have been elsewhere, as a lack of descriptors, or the clock.
 */
static void read_files(struct wv_work *work)
{
	struct reading *r = (struct reading *)work;

	r->stamp = wv_tls_stamp(&r->files);
	if (r->failed || r->stamp != r->old_stamp)
		wv_tls_load(&r->files, &r->context, r->why);
}

/* New files that are not good do not take the place of credentials that are. */
static void take_result(struct wv_local_end *local, struct reading *r)
{
	if (!r->context && !*r->why) /* not loaded: the files are the same */
		return;
	/* Not again of the same files. */
	if (!r->context && (r->stamp != local->stamp || strcmp(r->why, local->why) != 0))
		wv_log(WV_ERROR, "%s: %s",
		       local->context ? "the new credentials for peers are not used"
				      : "no connections to peers",
		       r->why);
	local->stamp = r->stamp;
	memcpy(local->why, r->why, sizeof(local->why));
	if (!r->context)
		return;
	SSL_CTX_free(local->context);
	local->context = r->context;
	r->context = NULL;
	wv_log(WV_NOTICE, "credentials for peers were read");
	local->renewed(local->arg);
}

static void on_read(struct wv_work *work)
{
	struct reading *r = (struct reading *)work;
	struct wv_local_end *local = r->local;

	if (r->stamp && local->look) {
		take_result(local, r);
		wv_timer_arm(local->look, wv_now(local->event) + LOOK_US);
	}
	SSL_CTX_free(r->context);
	free(r);
}

static int on_look(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_local_end *local = data;
	struct reading *r = calloc(1, sizeof(*r));

	(void)now;
	if (!r) {
		wv_timer_arm(source, wv_now(local->event) + LOOK_US);
		return 0;
	}
	*r = (struct reading){
	    .work = {.run = read_files, .done = on_read},
	    .local = local,
	    .files = local->files,
	    .old_stamp = local->stamp,
	    .failed = *local->why,
	};
	wv_line_give(local->line, &r->work);
	return 0;
}

int wv_local_end_start(struct wv_local_end *local)
{
	int err;

	TAILQ_INIT(&local->links);
	if (RAND_bytes(local->id, sizeof(local->id)) != 1)
		return -EIO;
	local->stamp = wv_tls_stamp(&local->files);
	wv_tls_load(&local->files, &local->context, local->why);
	if (!local->context)
		wv_log(WV_ERROR, "no connections to peers: %s", local->why);
	err = wv_timer_add(local->event, WV_PRIORITY_PEERS, 0, on_look, local, &local->look);
	if (!err)
		wv_timer_arm(local->look, wv_steady_clock() + LOOK_US);
	return err;
}

void wv_local_end_stop(struct wv_local_end *local)
{
	struct wv_link *link;

	if (!local->look)
		return;
	while ((link = TAILQ_FIRST(&local->links)))
		wv_local_end_unlink(local, link);
	local->look = sd_event_source_disable_unref(local->look);
	SSL_CTX_free(local->context);
	local->context = NULL;
}

static SSL *new_tls(struct wv_local_end *local, int fd, const struct in6_addr *ip, bool dialled,
		    const char *name)
{
	ERR_clear_error();
	if (!local->context || local->n_links >= local->max_links)
		return NULL;
	SSL_CTX_set_client_hello_cb(local->context, on_client_hello, NULL);
	return wv_tls_new(local->context, fd, dialled, name, ip);
}

struct wv_link *wv_local_end_link(struct wv_local_end *local, int fd, const struct in6_addr *ip,
				  bool dialled, const char *name)
{
	SSL *tls = new_tls(local, fd, ip, dialled, name);
	struct wv_link *link = tls ? calloc(1, sizeof(*link)) : NULL;
	const int on = 1, most = SOCKET_BYTES;

	if (!link) {
		SSL_free(tls);
		close(fd);
		return NULL;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof(most));
	*link = (struct wv_link){
	    .event = local->event,
	    .events = local->events,
	    .arg = local->arg,
	    .total = &local->total,
	    .own = {.version = WV_PEER_VERSION, .number = ++local->n_made},
	    .dialled = dialled,
	    .ip = *ip,
	};
	memcpy(link->own.id, local->id, WV_NODE_ID);
	SSL_set_app_data(tls, link);
	TAILQ_INSERT_TAIL(&local->links, link, link);
	local->n_links++;
	if (!wv_link_start(link, fd, tls))
		return link;
	wv_local_end_unlink(local, link);
	return NULL;
}

void wv_local_end_unlink(struct wv_local_end *local, struct wv_link *link)
{
	TAILQ_REMOVE(&local->links, link, link);
	local->n_links--;
	wv_link_free(link);
}
