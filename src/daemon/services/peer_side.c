/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/peer_side.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"
#include "daemon/services/offers.h"

#include <errno.h>

/* Answers a note about a connection that there is not. */
static void reply(struct wv_peer *peer, const struct wv_service_note *to, enum wv_service_word word,
		  int error)
{
	wv_service_send(peer, &(struct wv_service_note){.word = (uint16_t)word,
							.error = (uint16_t)error,
							.number = to->from});
}

/* 0; or -errno, and @conn was not asked for. */
static int take_ask(struct wv_services *s, struct wv_peer *peer, const struct wv_service_note *ask)
{
	struct wv_service_process *service;
	struct wv_service_conn *conn;
	int err;

	/* The queue pair of a third node would not have asked to be connected. */
	if (!wv_peers_is_at(s->peers, peer, ask->qp.gid))
		return -EADDRNOTAVAIL;
	service = wv_service_find(s, ask, NULL);
	if (!service)
		return -ENOENT;
	conn = wv_conn_add(&s->conns);
	if (!conn)
		return -ENOBUFS;
	conn->peer = peer;
	conn->peer_number = ask->from;
	conn->since_us = wv_steady_clock();
	memcpy(conn->daemon, peer->up->hello.id, sizeof(conn->daemon));
	memcpy(conn->gid, ask->qp.gid, sizeof(conn->gid));
	err = wv_service_ask(s, service, conn, ask);
	if (err)
		wv_conn_drop(s, conn);
	return err;
}

/* What the service's daemon says of what a client of this node has asked. */
static void take_answer(struct wv_services *s, struct wv_service_conn *conn,
			const struct wv_service_note *note)
{
	if (conn->is_made || !conn->client)
		return;
	if (note->word == WV_SERVICE_REFUSED) {
		wv_conn_refuse(s, conn, note->error ? -note->error : -EIO);
	} else if (note->word == WV_SERVICE_MADE && conn->is_making) {
		wv_conn_made(s, conn);
	} else if (note->word == WV_SERVICE_MAKING && !conn->is_making) {
		conn->peer_number = note->from;
		wv_conn_making(s, conn, note);
	}
}

int wv_services_message(struct wv_services *s, struct wv_peer *peer, const void *body,
			size_t length)
{
	struct wv_service_note note;
	struct wv_service_conn *conn;
	int err;

	if (wv_service_note_read(body, length, &note))
		return -EPROTO;
	if (note.word == WV_SERVICE_ASK) {
		err = take_ask(s, peer, &note);
		if (err)
			reply(peer, &note, WV_SERVICE_REFUSED, -err);
		return 0;
	}
	conn = wv_conn_find(&s->conns, note.number);
	if (conn && conn->peer != peer)
		conn = NULL;
	if (conn && note.word == WV_SERVICE_GONE)
		wv_conn_left_by_peer(s, conn);
	else if (conn && note.word != WV_SERVICE_STILL)
		take_answer(s, conn, &note);
	else if (!conn && (note.word == WV_SERVICE_MAKING || note.word == WV_SERVICE_STILL))
		reply(peer, &note, WV_SERVICE_GONE, 0); /* its client did not wait, or has gone */
	return 0;
}

/*
 * A connection that was lost is asked about, since its client may have gone meanwhile. Of another
 * daemon of that node nothing can be learned: the client may be there still, and keeps its
 * connection, unless the whole node was started again. What a daemon calls itself is no secret, so
 * it must also be where the connection leads.
 */
static void find_again(struct wv_services *s, struct wv_service_conn *conn, struct wv_peer *peer)
{
	bool is_same = !memcmp(conn->daemon, peer->up->hello.id, sizeof(conn->daemon));

	if (!wv_peers_is_at(s->peers, peer, conn->gid))
		return;
	if (is_same)
		wv_conn_find_again(s, conn, peer);
	else if (conn->service && wv_peer_is_rebooted(peer, conn->since_us))
		wv_conn_left_by_peer(s, conn);
}

void wv_services_peer_up(struct wv_services *s, struct wv_peer *peer)
{
	wv_each_conn (&s->conns, conn)
		if (conn->peer == WV_LOST_PEER)
			find_again(s, conn, peer);
}

/* What is connected stays so, since two queue pairs need no daemon. */
static void lose(struct wv_services *s, struct wv_service_conn *conn)
{
	conn->peer = WV_LOST_PEER;
	if (conn->unsaid == WV_SERVICE_STILL)
		conn->unsaid = 0;
	if (conn->client && !conn->is_made)
		wv_conn_refuse(s, conn, -EHOSTUNREACH);
	else if (!conn->is_made || (!conn->client && !conn->service))
		wv_conn_left_by_peer(s, conn);
}

void wv_services_peer_down(struct wv_services *s, struct wv_peer *peer)
{
	wv_each_conn (&s->conns, conn)
		if (conn->peer == peer)
			lose(s, conn);
}
