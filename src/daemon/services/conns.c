/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/conns.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/services/notes.h"

#include <errno.h>

#define AGAIN_US 50000 /* until a process that does not read is told again */

void wv_conn_join_client(struct wv_service_conn *conn, struct wv_service_process *process)
{
	conn->client = process;
	LIST_INSERT_HEAD(&process->as_client, conn, client_link);
	process->n_conns++;
}

void wv_conn_join_service(struct wv_service_conn *conn, struct wv_service_process *process)
{
	conn->service = process;
	LIST_INSERT_HEAD(&process->as_service, conn, service_link);
	process->n_conns++;
}

static void detach_client(struct wv_service_conn *conn)
{
	if (!conn->client)
		return;
	LIST_REMOVE(conn, client_link);
	conn->client->n_conns--;
	conn->client = NULL;
}

static void detach_service(struct wv_service_conn *conn)
{
	if (!conn->service)
		return;
	LIST_REMOVE(conn, service_link);
	conn->service->n_conns--;
	conn->service = NULL;
}

void wv_conn_drop(struct wv_services *s, struct wv_service_conn *conn)
{
	detach_client(conn);
	detach_service(conn);
	wv_conn_free(&s->conns, conn);
}

/* The process that has the only end which is left is told so, and then nothing is left. */
static void tell_last(struct wv_services *s, struct wv_service_conn *conn)
{
	const struct wv_service_note gone = {
	    .word = WV_SERVICE_GONE, .number = conn->client ? conn->client_number : conn->number};

	conn->is_untold =
	    wv_service_tell(conn->client ? conn->client : conn->service, &gone) == -EAGAIN;
	if (conn->is_untold)
		wv_timer_hasten(s->again, wv_steady_clock() + AGAIN_US);
	else
		wv_conn_drop(s, conn);
}

int wv_conns_tell_again(sd_event_source *timer, uint64_t now, void *services)
{
	struct wv_services *s = services;

	(void)timer;
	(void)now;
	wv_each_conn (&s->conns, conn)
		if (conn->is_untold)
			tell_last(s, conn);
	return 0;
}

/*
 * No process of this node has an end any more. Where the other daemon has not said yet how it calls
 * the connection, its answer is awaited.
 */
static void tell_peer(struct wv_services *s, struct wv_service_conn *conn)
{
	const struct wv_service_note gone = {
	    .word = WV_SERVICE_GONE, .number = conn->peer_number, .from = conn->number};

	if (conn->peer && conn->peer != WV_LOST_PEER) {
		if (!conn->peer_number)
			return;
		wv_service_send(conn->peer, &gone);
	}
	wv_conn_drop(s, conn);
}

void wv_conn_leave(struct wv_services *s, struct wv_service_conn *conn,
		   const struct wv_service_process *process)
{
	if (conn->client == process)
		detach_client(conn);
	else
		detach_service(conn);
	if (conn->client || conn->service)
		tell_last(s, conn);
	else
		tell_peer(s, conn);
}

void wv_conn_left_by_peer(struct wv_services *s, struct wv_service_conn *conn)
{
	conn->peer = NULL;
	if (conn->client || conn->service)
		tell_last(s, conn);
	else
		wv_conn_drop(s, conn);
}

static void answer_client(struct wv_services *s, struct wv_service_conn *conn,
			  struct wv_service_note *note)
{
	note->number = conn->client_number;
	note->from = conn->number;
	if (!wv_service_tell(conn->client, note))
		return;
	wv_conn_leave(s, conn, conn->client); /* it would not know that it is connected */
}

static void answer_peer(struct wv_service_conn *conn, struct wv_service_note *note)
{
	note->number = conn->peer_number;
	note->from = conn->number;
	wv_service_send(conn->peer, note);
}

void wv_conn_answer(struct wv_services *s, struct wv_service_conn *conn,
		    const struct wv_service_note *answer)
{
	struct wv_service_note note = *answer;

	if (conn->client)
		answer_client(s, conn, &note);
	else if (conn->peer && conn->peer != WV_LOST_PEER)
		answer_peer(conn, &note);
}

void wv_conn_refuse(struct wv_services *s, struct wv_service_conn *conn, int err)
{
	struct wv_service_note refused = {.word = WV_SERVICE_REFUSED, .error = (uint16_t)-err};

	detach_service(conn);
	if (conn->client) {
		refused.number = conn->client_number;
		wv_service_tell(conn->client, &refused);
	} else if (conn->peer && conn->peer != WV_LOST_PEER) {
		answer_peer(conn, &refused);
	}
	wv_conn_drop(s, conn);
}
