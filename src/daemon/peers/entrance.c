/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/entrance.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <sys/socket.h>

#define BACKLOG		128
#define ACCEPTS_AT_ONCE 8
#define PROVING_OF_ONE	4
#define PROVING		64
#define STRANGERS	32 /* of PROVING: the other half is for known addresses */
#define AGAIN_US	2000000
#define PAUSE_US	100000
#define HANDSHAKE_US	2000 /* that one counts, whatever it takes */
#define CONNECTION_US	50   /* the same, of what comes before */

/* Four at once, then one a second. */
static const struct wv_allowance_rate rate_of_one = {.share_us = HANDSHAKE_US,
						     .most_us = 4 * HANDSHAKE_US};
/* 50 a second: a tenth of the loop's time. */
static const struct wv_allowance_rate rate_of_strangers = {.share_us = 50 * HANDSHAKE_US,
							   .most_us = 50 * HANDSHAKE_US};

/* 400 connections a second. */
static const struct wv_allowance_rate rate_of_all = {.share_us = 400 * CONNECTION_US,
						     .most_us = 400 * CONNECTION_US};

static bool is_proving(const struct wv_link *link)
{
	return !link->dialled && link->phase < WV_LINK_OPEN;
}

/* Which of those that prove who they are: at @ip, strangers, or all. */
struct kind {
	const struct in6_addr *ip; /* or NULL */
	bool strangers;
	unsigned int most;
};

static bool is_of_kind(const struct wv_link *link, const struct kind *kind)
{
	return is_proving(link) && (!kind->ip || IN6_ARE_ADDR_EQUAL(&link->ip, kind->ip)) &&
	       (!kind->strangers || link->stranger);
}

/*
 * If there are as many as may be, the oldest goes: of those that have said nothing, if there are
 * any.
 */
static void make_room(struct wv_entrance *e, const struct kind *kind)
{
	struct wv_link *link, *silent = NULL, *oldest = NULL;
	unsigned int n = 0;

	TAILQ_FOREACH (link, &e->local->links, link) {
		if (!is_of_kind(link, kind))
			continue;
		n++;
		oldest = oldest ?: link;
		silent = silent || link->begun ? silent : link;
	}
	if (n < kind->most)
		return;
	e->n_turned_away++;
	wv_link_end(silent ?: oldest, false, "others connect, and it has not shown who it is");
}

bool wv_entrance_allows(struct wv_entrance *e, struct wv_link *link)
{
	struct wv_peer *peer = wv_peer_by_ip(e->table, &link->ip);
	struct wv_allowance *allowance = peer ? &peer->handshakes : &e->handshakes;
	const struct wv_allowance_rate *rate = peer ? &rate_of_one : &rate_of_strangers;

	if (wv_allowance_wait(allowance, rate, wv_steady_clock())) {
		e->n_turned_away++;
		wv_link_end(link, false, "too many handshakes begin at its address");
		return false;
	}
	wv_allowance_charge(allowance, HANDSHAKE_US);
	return true;
}

static void admit(struct wv_entrance *e, int fd, const struct sockaddr_storage *from)
{
	struct wv_link *link;
	struct wv_peer *peer;
	struct in6_addr ip = from->ss_family == AF_INET6
				 ? ((const struct sockaddr_in6 *)from)->sin6_addr
				 : wv_ip_of_v4(((const struct sockaddr_in *)from)->sin_addr);

	peer = wv_peer_by_ip(e->table, &ip);
	if ((!peer && !e->any) || !e->local->context) {
		e->n_turned_away++;
		close(fd);
		return;
	}
	make_room(e, &(struct kind){.ip = &ip, .most = PROVING_OF_ONE});
	if (!peer)
		make_room(e, &(struct kind){.strangers = true, .most = STRANGERS});
	make_room(e, &(struct kind){.most = PROVING});
	link = wv_local_end_link(e->local, fd, &ip, false, NULL);
	if (link)
		link->stranger = !peer;
}

/* Those that connect wait in the kernel meanwhile. */
static void pause_accepting(struct wv_entrance *e, int64_t pause_us)
{
	sd_event_source_set_enabled(e->source, SD_EVENT_OFF);
	wv_timer_arm(e->again, wv_steady_clock() + pause_us);
}

static int on_newcomer(sd_event_source *source, int listen_fd, uint32_t events, void *data)
{
	struct wv_entrance *e = data;
	int64_t pause_us = wv_allowance_wait(&e->connections, &rate_of_all, wv_steady_clock());

	(void)source;
	(void)events;
	if (pause_us) {
		pause_accepting(e, pause_us);
		return 0;
	}
	for (unsigned int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		struct sockaddr_storage from = {0};
		socklen_t bytes = sizeof(from);
		int fd = accept4(listen_fd, (struct sockaddr *)&from, &bytes,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			wv_allowance_charge(&e->connections, CONNECTION_US);
			admit(e, fd, &from);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			pause_accepting(e, PAUSE_US);
		break;
	}
	return 0;
}

/* A listening socket at the address of @e. The caller's; or -errno. */
static int listen_at(const struct wv_entrance *e)
{
	struct sockaddr_storage at;
	socklen_t bytes = wv_ip_socket(&at, &e->at.ip, e->at.port);
	wv_auto_fd fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const int on = 1, off = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, (struct sockaddr *)&at, bytes) || listen(fd, BACKLOG))
		return -errno;
	return wv_steal_fd(&fd);
}

static int open_entrance(struct wv_entrance *e)
{
	int err;

	e->fd = listen_at(e);
	/* Where there is no IPv6, "::" means all addresses of IPv4. */
	if (e->fd == -EAFNOSUPPORT && IN6_IS_ADDR_UNSPECIFIED(&e->at.ip)) {
		e->at.ip = wv_ip_of_v4((struct in_addr){INADDR_ANY});
		e->fd = listen_at(e);
	}
	if (e->fd < 0)
		return e->fd;
	err = sd_event_add_io(e->local->event, &e->source, e->fd, EPOLLIN, on_newcomer, e);
	return err < 0 ? err : sd_event_source_set_priority(e->source, WV_PRIORITY_PEERS);
}

static int on_again(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_entrance *e = data;

	(void)now;
	if (e->source)
		sd_event_source_set_enabled(e->source, SD_EVENT_ON);
	else if (open_entrance(e) < 0)
		wv_timer_arm(source, wv_steady_clock() + AGAIN_US);
	else
		wv_log(WV_NOTICE, "peers can connect to %s, port %u", e->at.name, e->at.port);
	return 0;
}

int wv_entrance_start(struct wv_entrance *e)
{
	int err;

	e->fd = -1;
	err = wv_timer_add(e->local->event, WV_PRIORITY_PEERS, 0, on_again, e, &e->again);
	if (err)
		return err;
	err = open_entrance(e);
	if (err >= 0)
		return 0;
	wv_log(
	    WV_ERROR,
	    "%s, port %u: %s: peers cannot connect to this node: correct peer-listen; tried again",
	    e->at.name, e->at.port, strerror(-err));
	wv_timer_arm(e->again, wv_steady_clock() + AGAIN_US);
	return 0;
}

void wv_entrance_stop(struct wv_entrance *e)
{
	if (!e->again)
		return;
	e->again = sd_event_source_disable_unref(e->again);
	e->source = sd_event_source_disable_unref(e->source);
	wv_close_fd(&e->fd);
}
