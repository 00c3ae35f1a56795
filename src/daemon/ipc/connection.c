/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/connection.h"

#include "base/base.h"
#include "daemon/ipc/dispatch.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Then others that the loop waits for have their chance. */
#define SLICE_US 2000

/* After a dear message that took longer, no other is served for several times as long. */
#define CHEAP_US	100
#define REST_AFTER_DEAR 10
#define ACCURACY_US	1000

/* How many clients are looked at when there is no room. */
#define LOOKS 16

static void close_connection(struct wv_connection *cn)
{
	struct wv_client *c = &cn->client;

	wv_rest_end(&cn->all->rests, &cn->rest);
	wv_dispatch_end(c);
	wv_handed_out_disconnect(c->holder);
	wv_turns_remove(&cn->all->turns, &cn->turn);
	sd_event_source_disable_unref(cn->source);
	wv_closer_give(c->service->closer, c->tenant, c->fd);
	wv_client_discharge(c);
	TAILQ_REMOVE(&cn->all->all, cn, link);
	TAILQ_REMOVE(&c->tenant->clients->connections, cn, tenant_link);
	c->service->n_clients--;
	c->tenant->clients->n--;
	c->user->n_clients--;
	wv_tenant_put(c->tenant);
	wv_catalog_tidy_user(c->service->catalog, c->user);
	free(cn);
}

/*
 * Looks whether the next client of @tenant has read its answers. Each has its turn, since a tenant
 * with many that have not must not make looking dear. NULL: it has not.
 */
static struct wv_connection *look(struct wv_tenant *tenant)
{
	struct wv_connection *cn =
	    tenant->clients ? TAILQ_FIRST(&tenant->clients->connections) : NULL;

	if (!cn)
		return NULL;
	TAILQ_REMOVE(&tenant->clients->connections, cn, tenant_link);
	TAILQ_INSERT_TAIL(&tenant->clients->connections, cn, tenant_link);
	if (!wv_client_has_read(&cn->client))
		return NULL;
	wv_client_discharge(&cn->client);
	return cn;
}

bool wv_connections_make_room(struct wv_tenant *tenant)
{
	for (unsigned int i = 0; i < LOOKS; i++) {
		struct wv_connection *cn = look(tenant);

		if (!cn || !wv_client_is_dispensable(&cn->client))
			continue;
		cn->client.state = WV_CLIENT_DONE; /* the daemon ends it: no report is missed */
		close_connection(cn);
		return true;
	}
	return false;
}

static void settle(struct wv_tenant *tenant)
{
	for (unsigned int i = 0; i < LOOKS; i++)
		look(tenant);
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
	int fds[WV_MESSAGE_FDS];
	struct wv_client *c = &cn->client;
	struct wv_received in = {.msg = (struct wv_msg *)cn->all->message, .fds = fds};
	enum wv_client_next next = WV_CLIENT_CLOSE;
	ssize_t got;

	if (wv_closer_is_full(c->service->closer, c->tenant)) {
		c->service->tally.over_limit++;
		c->state = WV_CLIENT_DONE; /* the daemon ends it: no report is missed */
		return cn->ended ? WV_CLIENT_KEEP : WV_CLIENT_CLOSE;
	}
	got = wv_recv_any(c->fd, cn->all->message, WV_WIRE_MAX, fds, &in.n_fds, NULL);
	if (got == -EAGAIN || got == -EINTR)
		return WV_CLIENT_KEEP;
	if (got == -ECONNRESET) { /* unix_release_sock() of the kernel; what it has sent follows */
		c->unread = true;
		got = wv_recv_any(c->fd, cn->all->message, WV_WIRE_MAX, fds, &in.n_fds, NULL);
	}
	if (!wv_client_may_be_answered(c))
		settle(c->tenant);
	if (cn->ended)
		next = got > 0 || got == -EPROTO ? WV_CLIENT_KEEP : WV_CLIENT_CLOSE;
	else if (got == -EPROTO)
		next = WV_CLIENT_MALFORMED;
	else if (got > 0)
		next = wv_dispatch(c, &in, (size_t)got);
	wv_closer_give_all(c->service->closer, c->tenant, fds, in.n_fds);
	return next;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_connection *cn = data;
	struct wv_connections *cs = cn->all;

	(void)fd;
	if (cn->ended && events & (EPOLLHUP | EPOLLERR)) {
		close_connection(cn);
		return 0;
	}
	wv_rest_end(&cs->rests, &cn->rest);
	sd_event_source_set_enabled(source, SD_EVENT_OFF); /* until its turn */
	wv_turns_add(&cs->turns, &cn->turn, cn->client.tenant);
	wv_connections_serve(cs);
	return 0;
}

/* Waits for @events, and in any case for the end of the connection. */
static void keep_or_close(struct wv_connection *cn, uint32_t events)
{
	int err;

	if (cn->source) {
		err = sd_event_source_set_io_events(cn->source, events);
		if (err >= 0)
			err = sd_event_source_set_enabled(cn->source, SD_EVENT_ON);
	} else {
		err = sd_event_add_io(cn->client.service->event, &cn->source, cn->client.fd, events,
				      on_readable, cn);
		if (err >= 0)
			err = sd_event_source_set_priority(cn->source, WV_PRIORITY_CLIENTS);
	}
	if (err >= 0)
		return;
	wv_log(WV_WARNING, "cannot serve a client: %s", strerror(-err));
	close_connection(cn);
}

/*
 * The daemon is done with the connection. The client is told; but an answer that it has not read
 * keeps the connection, since memory and descriptors would outlive it otherwise, uncounted. What
 * the client sends until it stops is dropped: its own end of the connection among it would keep
 * the connection for ever. Credentials tell a message without bytes from the end.
 */
static void end(struct wv_connection *cn)
{
	struct wv_client *c = &cn->client;
	uint32_t events = cn->ended ? 0 : EPOLLIN;
	int on = 1;

	if (wv_client_has_read(c)) {
		close_connection(cn);
		return;
	}
	wv_dispatch_stop(c);
	c->state = WV_CLIENT_DONE;
	cn->ended = true;
	shutdown(c->fd, SHUT_WR);
	setsockopt(c->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	keep_or_close(cn, events);
}

/*
 * Waits for a message. A program that has just got a lease is not disturbed by that, and what
 * cannot be dropped yet is looked at again later.
 */
static void keep(struct wv_connection *cn)
{
	const struct wv_client *c = &cn->client;
	bool waits = cn->ended && wv_closer_is_full(c->service->closer, c->tenant);
	int64_t since_us = waits ? wv_now(c->service->event) : c->since_us;
	bool may_rest = waits || c->state == WV_CLIENT_LEASED;
	bool rests = may_rest && wv_rest_begin(&cn->all->rests, &cn->rest, since_us);

	keep_or_close(cn, rests ? 0 : EPOLLIN);
}

static void on_rested(struct wv_rest *rest)
{
	keep_or_close(WV_OWNER(rest, struct wv_connection, rest), EPOLLIN);
}

/* Reads one message, and then keeps the connection, or closes and frees it. */
static void serve(struct wv_connection *cn)
{
	struct wv_connections *cs = cn->all;

	switch (receive(cn)) {
	case WV_CLIENT_KEEP:
		if (cn->client.state == WV_CLIENT_NEW)
			wv_timer_hasten(cs->silence_timer,
					wv_now(cs->service->event) + WV_FIRST_MESSAGE_US);
		keep(cn);
		return;
	case WV_CLIENT_MALFORMED:
		note_malformed(cn);
		cn->client.state = WV_CLIENT_DONE; /* a missing report counts for nothing */
		break;
	case WV_CLIENT_CLOSE:
		break;
	}
	end(cn);
}

static struct wv_connection *of_turn(struct wv_turn *turn)
{
	return WV_OWNER(turn, struct wv_connection, turn);
}

static bool is_dear(struct wv_connection *cn)
{
	struct wv_msg head = {.type = WV_MSG_REQUEST};

	if (cn->client.state == WV_CLIENT_LEASED) /* it reports; looking would use up ECONNRESET */
		return false;
	if (!cn->dear && recv(cn->client.fd, &head, sizeof(head), MSG_PEEK | MSG_DONTWAIT) > 0)
		cn->dear = wv_is_dear(&head);
	return cn->dear;
}

static void postpone(struct wv_connection *cn)
{
	struct wv_connections *cs = cn->all;

	if (STAILQ_EMPTY(&cs->turns.postponed))
		wv_timer_arm(cs->dear_timer, cs->dear_us);
	wv_turns_postpone(&cs->turns, &cn->turn, cn->client.tenant);
}

/* Serves @cn, and charges its tenant for the time. */
static void serve_and_charge(struct wv_connection *cn)
{
	struct wv_connections *cs = cn->all;
	struct wv_tenant *tenant = wv_tenant_keep(cn->client.tenant);
	struct wv_msg *served = (struct wv_msg *)cs->message;
	int64_t began = wv_cpu_clock(), took;

	cn->dear = false;
	served->type = WV_MSG_REQUEST; /* if nothing is received */
	serve(cn);
	took = wv_cpu_clock() - began;
	wv_turns_charge(&cs->turns, tenant, took);
	if (took > CHEAP_US && wv_is_dear(served))
		cs->dear_us = wv_steady_clock() + REST_AFTER_DEAR * took;
	wv_tenant_put(tenant);
}

void wv_connections_serve(struct wv_connections *cs)
{
	int64_t began = wv_steady_clock(), now = began;
	struct wv_turn *turn;

	while (now - began < SLICE_US && (turn = wv_turns_next(&cs->turns))) {
		struct wv_connection *cn = of_turn(turn);

		if (now < cs->dear_us && is_dear(cn))
			postpone(cn);
		else
			serve_and_charge(cn);
		now = wv_steady_clock();
	}
	sd_event_source_set_enabled(cs->more_source,
				    wv_turns_any(&cs->turns) ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int on_more(sd_event_source *source, void *data)
{
	(void)source;
	wv_connections_serve(data);
	return 0;
}

/* One of those that were postponed is served, whose turn it is; the others may wait again. */
static int on_dear(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_connections *cs = data;

	(void)source;
	(void)now;
	wv_turns_resume(&cs->turns);
	wv_connections_serve(cs);
	return 0;
}

static int on_silence(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_connections *cs = data;
	struct wv_connection *cn = TAILQ_FIRST(&cs->all), *next;
	int64_t oldest = INT64_MAX;

	(void)now;
	for (; cn; cn = next) {
		next = TAILQ_NEXT(cn, link);
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

void wv_connection_start(struct wv_connections *cs, int fd, struct wv_user *user,
			 struct wv_tenant *tenant, bool administrator)
{
	struct wv_connection *cn =
	    wv_tenant_may_have_clients(tenant) ? calloc(1, sizeof(*cn)) : NULL;

	if (!cn) {
		wv_closer_give(cs->service->closer, tenant, fd);
		return;
	}
	cn->all = cs;
	cn->client = (struct wv_client){
	    .service = cs->service,
	    .user = user,
	    .tenant = wv_tenant_keep(tenant),
	    .fd = fd,
	    .administrator = administrator,
	    .since_us = wv_now(cs->service->event),
	};
	user->n_clients++;
	tenant->clients->n++;
	cs->service->n_clients++;
	TAILQ_INSERT_TAIL(&cs->all, cn, link);
	TAILQ_INSERT_TAIL(&tenant->clients->connections, cn, tenant_link);
	wv_turns_add(&cs->turns, &cn->turn, tenant);
}

int wv_connections_start(struct wv_connections *cs)
{
	sd_event *event = cs->service->event;
	int err;

	TAILQ_INIT(&cs->all);
	wv_turns_init(&cs->turns);
	cs->rests.over = on_rested;
	err = wv_timer_add(event, WV_PRIORITY_TIMERS, 0, on_silence, cs, &cs->silence_timer);
	if (!err)
		err = wv_timer_add(event, WV_PRIORITY_CLIENTS, ACCURACY_US, on_dear, cs,
				   &cs->dear_timer);
	if (!err)
		err = wv_rests_start(&cs->rests, event);
	if (!err)
		err = sd_event_add_defer(event, &cs->more_source, on_more, cs);
	if (err >= 0)
		err = sd_event_source_set_priority(cs->more_source, WV_PRIORITY_CLIENTS);
	return err < 0 ? err : sd_event_source_set_enabled(cs->more_source, SD_EVENT_OFF);
}

void wv_connections_stop(struct wv_connections *cs)
{
	struct wv_connection *cn;

	while (cs->silence_timer && (cn = TAILQ_FIRST(&cs->all))) {
		cn->client.state = WV_CLIENT_DONE; /* the daemon ends, so no report is missed */
		close_connection(cn);
	}
	cs->silence_timer = sd_event_source_disable_unref(cs->silence_timer);
	cs->more_source = sd_event_source_disable_unref(cs->more_source);
	cs->dear_timer = sd_event_source_disable_unref(cs->dear_timer);
	wv_rests_stop(&cs->rests);
}
