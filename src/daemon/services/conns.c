/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/conns.h"

#include "base/base.h"
#include "daemon/services/notes.h"

#include <errno.h>

void wv_conn_join_client(struct wv_service_conn *conn, struct wv_service_process *process)
{
	conn->client = process;
	LIST_INSERT_HEAD(&process->as_client, conn, client_link);
	process->n_as_client++;
	process->n_waiting += !!conn->ask;
}

void wv_conn_join_service(struct wv_service_conn *conn, struct wv_service_process *process)
{
	conn->service = process;
	LIST_INSERT_HEAD(&process->as_service, conn, service_link);
	process->n_as_service++;
}

static void detach_client(struct wv_service_conn *conn)
{
	if (!conn->client)
		return;
	LIST_REMOVE(conn, client_link);
	conn->client->n_as_client--;
	conn->client->n_waiting -= !!conn->ask;
	conn->client = NULL;
}

static void detach_service(struct wv_service_conn *conn)
{
	if (!conn->service)
		return;
	LIST_REMOVE(conn, service_link);
	conn->service->n_as_service--;
	conn->service = NULL;
}

void wv_conn_drop(struct wv_services *s, struct wv_service_conn *conn)
{
	detach_client(conn);
	detach_service(conn);
	wv_conn_free(&s->conns, conn);
}

static bool has_peer(const struct wv_service_conn *conn)
{
	return conn->peer && conn->peer != WV_LOST_PEER;
}

/* False: the process of the only end that is left does not read. */
static bool tell_process(struct wv_service_conn *conn)
{
	struct wv_service_process *process = conn->client ? conn->client : conn->service;
	const struct wv_service_note note = {
	    .word = conn->unsaid, .number = conn->client ? conn->client_number : conn->number};
	int err = process->is_deaf ? -EAGAIN : wv_service_tell(process, &note);

	process->is_deaf = err && err != -EPIPE && err != -ECONNRESET;
	return !process->is_deaf;
}

static bool tell_peer(struct wv_service_conn *conn)
{
	if (has_peer(conn) && wv_peer_is_slow(conn->peer))
		return false;
	if (has_peer(conn))
		wv_service_send(conn->peer, &(struct wv_service_note){.word = conn->unsaid,
								      .number = conn->peer_number,
								      .from = conn->number});
	return true;
}

/* Says what is unsaid of @conn, which is freed after GONE. False: not yet. */
static bool say_rest(struct wv_services *s, struct wv_service_conn *conn)
{
	bool is_last = conn->unsaid == WV_SERVICE_GONE;
	bool is_said =
	    is_last && (conn->client || conn->service) ? tell_process(conn) : tell_peer(conn);

	if (!is_said)
		return false;
	conn->unsaid = 0;
	if (is_last)
		wv_conn_drop(s, conn);
	return true;
}

static void say(struct wv_services *s, struct wv_service_conn *conn, enum wv_service_word word)
{
	conn->unsaid = (uint16_t)word;
	if (!say_rest(s, conn))
		wv_services_try_again(s);
}

bool wv_conns_say_rest(struct wv_services *s)
{
	struct wv_service_process *process;
	bool any = false;

	each_process (s, process)
		process->is_deaf = false;
	wv_each_conn (&s->conns, conn)
		if (conn->unsaid)
			any |= !say_rest(s, conn);
	return any;
}

/* One end is gone, and perhaps the other too. */
static void settle(struct wv_services *s, struct wv_service_conn *conn)
{
	if (conn->client && !conn->is_made)
		wv_conn_refuse(s, conn, -ECONNRESET);
	else if (conn->client || conn->service || (has_peer(conn) && conn->peer_number))
		say(s, conn, WV_SERVICE_GONE);
	else /* a daemon that makes it known only now is told then */
		wv_conn_drop(s, conn);
}

void wv_conn_leave(struct wv_services *s, struct wv_service_conn *conn,
		   const struct wv_service_process *process)
{
	if (conn->client == process)
		detach_client(conn);
	else
		detach_service(conn);
	settle(s, conn);
}

void wv_conn_left_by_peer(struct wv_services *s, struct wv_service_conn *conn)
{
	conn->peer = NULL;
	settle(s, conn);
}

/* A client that cannot be told would not know of its connection, or would wait: that ends. */
static void tell_client(struct wv_services *s, struct wv_service_conn *conn,
			const struct wv_service_note *said)
{
	struct wv_service_note note = *said;

	note.from = conn->number;
	if (conn->client) {
		note.number = conn->client_number;
		if (wv_service_tell(conn->client, &note))
			wv_conn_leave(s, conn, conn->client);
		return;
	}
	note.number = conn->peer_number;
	if (!has_peer(conn) || wv_peer_is_slow(conn->peer) || wv_service_send(conn->peer, &note))
		wv_conn_left_by_peer(s, conn);
}

void wv_conn_making(struct wv_services *s, struct wv_service_conn *conn,
		    const struct wv_service_note *making)
{
	conn->is_making = true;
	tell_client(s, conn, making);
}

void wv_conn_made(struct wv_services *s, struct wv_service_conn *conn)
{
	conn->is_made = true;
	tell_client(s, conn, &(struct wv_service_note){.word = WV_SERVICE_MADE});
}

void wv_conn_refuse(struct wv_services *s, struct wv_service_conn *conn, int err)
{
	struct wv_service_note refused = {.word = WV_SERVICE_REFUSED, .error = (uint16_t)-err};

	if (conn->client) {
		refused.number = conn->client_number;
		wv_service_tell(conn->client, &refused);
	} else if (has_peer(conn) && !wv_peer_is_slow(conn->peer)) {
		refused.number = conn->peer_number;
		wv_service_send(conn->peer, &refused);
	}
	wv_conn_drop(s, conn);
}

void wv_conn_find_again(struct wv_services *s, struct wv_service_conn *conn, struct wv_peer *peer)
{
	conn->peer = peer;
	if (conn->service && !conn->unsaid)
		say(s, conn, WV_SERVICE_STILL);
}
