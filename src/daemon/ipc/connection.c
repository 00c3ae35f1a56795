/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/connection.h"

#include "base/base.h"
#include "daemon/ipc/lease_requests.h"
#include "daemon/ipc/outcome.h"
#include "daemon/ipc/pool_requests.h"
#include "daemon/ipc/queries.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <string.h>

typedef enum wv_client_next (*handler_fn)(struct wv_client *c, const struct wv_received *in);

/*
 * Which message is expected in which state; every other one is malformed. A client has at most one
 * message to send at a time, so it cannot pile up work.
 */
static const struct {
	enum wv_client_state state;
	enum wv_msg_type type;
	unsigned int n_fds;
	handler_fn handle;
} expected[] = {
    {WV_CLIENT_NEW, WV_MSG_REQUEST, 1, wv_handle_request},
    {WV_CLIENT_NEW, WV_MSG_CONTROL, 0, wv_handle_control},
    {WV_CLIENT_RECORDING, WV_MSG_RECORD, 0, wv_handle_record},
    {WV_CLIENT_LEASED, WV_MSG_REPORT, 0, wv_handle_report},
    {WV_CLIENT_NEW, WV_MSG_POOL, 0, wv_handle_pool},
    {WV_CLIENT_POOL, WV_MSG_POOL, 0, wv_handle_pool},
};

static void close_connection(struct wv_connection *cn)
{
	struct wv_client *c = &cn->client;

	if (c->state == WV_CLIENT_LEASED)
		wv_handle_no_report(c);
	wv_pool_request_end(c);
	sd_event_source_disable_unref(cn->source);
	close(c->fd);
	LIST_REMOVE(cn, link);
	c->service->n_clients--;
	c->user->n_clients--;
	wv_catalog_tidy_user(c->service->catalog, c->user);
	free(cn);
}

bool wv_connections_make_room(struct wv_connections *cs, const struct wv_user *user)
{
	struct wv_connection *cn, *oldest = NULL;

	LIST_FOREACH (cn, &cs->all, link)
		if (cn->client.state == WV_CLIENT_LEASED && (!user || cn->client.user == user))
			oldest = cn;
	if (!oldest)
		return false;
	oldest->client.state = WV_CLIENT_DONE; /* the daemon ends it, so no report is missed */
	close_connection(oldest);
	return true;
}

static enum wv_client_next dispatch(struct wv_client *c, const struct wv_received *in, size_t bytes)
{
	int type = wv_msg_check(in->msg, bytes);

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(expected); i++)
		if (expected[i].state == c->state && (int)expected[i].type == type &&
		    expected[i].n_fds == in->n_fds)
			return expected[i].handle(c, in);
	return WV_CLIENT_MALFORMED;
}

static void note_malformed(struct wv_connection *cn)
{
	struct wv_service *s = cn->client.service;

	s->tally.malformed++;
	if (wv_log_allowed(&cn->all->malformed_limit, wv_now(s->event)))
		wv_log(WV_NOTICE,
		       "a client of user %u broke the protocol and was disconnected: its "
		       "libwarmverbs may be of another version",
		       cn->client.user->uid);
}

static enum wv_client_next receive(struct wv_connection *cn)
{
	int fds[WV_WIRE_MAX_FDS];
	struct wv_received in = {.msg = (struct wv_msg *)cn->all->message, .fds = fds};
	ssize_t got =
	    wv_recv(cn->client.fd, cn->all->message, WV_WIRE_MAX, fds, WV_WIRE_MAX_FDS, &in.n_fds);
	enum wv_client_next next;

	if (got == -EAGAIN || got == -EINTR)
		return WV_CLIENT_KEEP;
	if (got == -EPROTO)
		return WV_CLIENT_MALFORMED;
	next = got > 0 ? dispatch(&cn->client, &in, (size_t)got) : WV_CLIENT_CLOSE;
	for (unsigned int i = 0; i < in.n_fds; i++)
		close(fds[i]);
	return next;
}

/* Reads one message. True if the connection stays; else it is closed and freed. */
static bool serve(struct wv_connection *cn)
{
	enum wv_client_next next = receive(cn);

	if (next == WV_CLIENT_KEEP)
		return true;
	if (next == WV_CLIENT_MALFORMED) {
		note_malformed(cn);
		cn->client.state = WV_CLIENT_DONE; /* a missing report counts for nothing */
	}
	close_connection(cn);
	return false;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *data)
{
	(void)source;
	(void)fd;
	(void)events;
	serve(data);
	return 0;
}

/* Connections are listed by age, newest first, so all of them have to be looked at. */
static int on_silence(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_connections *cs = data;
	struct wv_connection *cn = LIST_FIRST(&cs->all), *next;
	int64_t oldest = INT64_MAX;

	(void)now;
	for (; cn; cn = next) {
		next = LIST_NEXT(cn, link);
		if (cn->client.state != WV_CLIENT_NEW)
			continue;
		if (cn->client.since_us + WV_FIRST_MESSAGE_US <= wv_now(cs->service->event)) {
			cs->service->tally.silent++;
			close_connection(cn);
		} else if (cn->client.since_us < oldest) {
			oldest = cn->client.since_us;
		}
	}
	if (oldest != INT64_MAX)
		wv_timer_arm(source, oldest + WV_FIRST_MESSAGE_US);
	return 0;
}

static void arm_silence_timer(struct wv_connections *cs)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(cs->silence_timer, &enabled);
	if (enabled == SD_EVENT_OFF)
		wv_timer_arm(cs->silence_timer, wv_now(cs->service->event) + WV_FIRST_MESSAGE_US);
}

/*
 * A program connects and sends its first message in one go, so that message is read before the
 * connection joins the loop. Most connections never need to join it.
 */
static void start(struct wv_connection *cn)
{
	int err;

	if (!serve(cn))
		return;
	err = sd_event_add_io(cn->client.service->event, &cn->source, cn->client.fd, EPOLLIN,
			      on_readable, cn);
	if (err < 0) {
		wv_log(WV_WARNING, "cannot serve a client: %s", strerror(-err));
		close_connection(cn);
		return;
	}
	sd_event_source_set_priority(cn->source, WV_PRIORITY_CLIENTS);
	if (cn->client.state == WV_CLIENT_NEW)
		arm_silence_timer(cn->all);
}

void wv_connection_start(struct wv_connections *cs, int fd, struct wv_user *user)
{
	struct wv_connection *cn = calloc(1, sizeof(*cn));

	if (!cn) {
		close(fd);
		wv_catalog_tidy_user(cs->service->catalog, user);
		return;
	}
	cn->all = cs;
	cn->client = (struct wv_client){
	    .service = cs->service,
	    .user = user,
	    .fd = fd,
	    .since_us = wv_now(cs->service->event),
	};
	user->n_clients++;
	cs->service->n_clients++;
	LIST_INSERT_HEAD(&cs->all, cn, link);
	start(cn);
}

int wv_connections_start(struct wv_connections *cs)
{
	return wv_timer_add(cs->service->event, WV_PRIORITY_TIMERS, 0, on_silence, cs,
			    &cs->silence_timer);
}

void wv_connections_stop(struct wv_connections *cs)
{
	struct wv_connection *cn;

	while ((cn = LIST_FIRST(&cs->all))) {
		cn->client.state = WV_CLIENT_DONE; /* the daemon ends, so no report is missed */
		close_connection(cn);
	}
	cs->silence_timer = sd_event_source_disable_unref(cs->silence_timer);
}
