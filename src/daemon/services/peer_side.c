/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/peer_side.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/services/asks.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"
#include "daemon/services/offers.h"

#include <errno.h>

static void reply(struct wv_peer *peer, const struct wv_service_note *to, enum wv_service_word word,
		  int error)
{
	wv_service_send(peer, &(struct wv_service_note){.word = (uint16_t)word,
							.error = (uint16_t)error,
							.number = to->from});
}

/*
 * A client of another node. Its queue pair must be on that node: another one would not have asked
 * to be connected.
 */
static void take_ask(struct wv_services *s, struct wv_peer *peer,
		     const struct wv_service_note *note)
{
	bool is_there = wv_peers_is_at(s->peers, peer, note->qp.gid);
	struct wv_service_process *service = is_there ? wv_service_find(s, note, NULL) : NULL;
	struct wv_service_conn *conn = service ? wv_conn_add(&s->conns) : NULL;
	int err;

	if (!conn) {
		reply(peer, note, WV_SERVICE_REFUSED,
		      service	 ? ENOBUFS
		      : is_there ? ENOENT
				 : EADDRNOTAVAIL);
		return;
	}
	conn->peer = peer;
	conn->peer_number = note->from;
	conn->since_us = wv_steady_clock();
	memcpy(conn->daemon, peer->up->hello.id, sizeof(conn->daemon));
	memcpy(conn->gid, note->qp.gid, sizeof(conn->gid));
	err = wv_service_ask(s, service, conn, note);
	if (err)
		wv_conn_refuse(s, conn, err);
}

static void take_answer(struct wv_services *s, struct wv_service_conn *conn,
			const struct wv_service_note *note)
{
	if (conn->is_made || conn->service)
		return;
	if (note->word == WV_SERVICE_REFUSED) {
		wv_conn_refuse(s, conn, note->error ? -note->error : -EIO);
		return;
	}
	conn->is_made = true;
	conn->peer_number = note->from;
	if (conn->client)
		wv_conn_answer(s, conn, note);
	else
		wv_conn_leave(s, conn, NULL); /* the client has not waited */
}

int wv_services_message(struct wv_services *s, struct wv_peer *peer, const void *body,
			size_t length)
{
	struct wv_service_note note;
	struct wv_service_conn *conn;

	if (wv_service_note_read(body, length, &note))
		return -EPROTO;
	if (note.word == WV_SERVICE_ASK) {
		take_ask(s, peer, &note);
		return 0;
	}
	conn = wv_conn_find(&s->conns, note.number);
	if (conn && conn->peer != peer)
		conn = NULL;
	if (conn && note.word == WV_SERVICE_GONE)
		wv_conn_left_by_peer(s, conn);
	else if (conn && (note.word == WV_SERVICE_MADE || note.word == WV_SERVICE_REFUSED))
		take_answer(s, conn, &note);
	else if (!conn && (note.word == WV_SERVICE_MADE || note.word == WV_SERVICE_STILL))
		reply(peer, &note, WV_SERVICE_GONE, 0);
	return 0;
}

static bool is_of_daemon(const struct wv_service_conn *conn, const struct wv_peer *peer)
{
	return !memcmp(conn->daemon, peer->up->hello.id, sizeof(conn->daemon));
}

/* Whether the node of @peer was started after @conn was made. */
static bool is_rebooted(const struct wv_service_conn *conn, const struct wv_peer *peer)
{
	return peer->up_us > conn->since_us &&
	       peer->up->hello.up_us < (uint64_t)(peer->up_us - conn->since_us);
}

/*
 * A connection that was lost is asked about, since its client may have gone meanwhile. Of another
 * daemon of that node nothing can be learned: the client may be there still, and keeps its
 * connection, unless the whole node was started again.
 */
static void find_again(struct wv_services *s, struct wv_service_conn *conn, struct wv_peer *peer)
{
	if (is_of_daemon(conn, peer)) {
		conn->peer = peer;
		if (conn->service)
			wv_service_send(peer, &(struct wv_service_note){.word = WV_SERVICE_STILL,
									.number = conn->peer_number,
									.from = conn->number});
	} else if (conn->service && wv_peers_is_at(s->peers, peer, conn->gid) &&
		   is_rebooted(conn, peer)) {
		wv_conn_left_by_peer(s, conn);
	}
}

void wv_services_peer_up(struct wv_services *s, struct wv_peer *peer)
{
	wv_each_conn (&s->conns, conn) {
		if (conn->ask)
			wv_conn_pass_on(s, conn);
		else if (conn->peer == WV_LOST_PEER)
			find_again(s, conn, peer);
	}
}

/* What is connected stays so, since two queue pairs need no daemon. */
static void lose(struct wv_services *s, struct wv_service_conn *conn)
{
	if (conn->is_made && (conn->client || conn->service))
		conn->peer = WV_LOST_PEER;
	else if (conn->service)
		wv_conn_left_by_peer(s, conn);
	else
		wv_conn_refuse(s, conn, -EHOSTUNREACH);
}

void wv_services_peer_down(struct wv_services *s, struct wv_peer *peer)
{
	wv_each_conn (&s->conns, conn)
		if (conn->peer == peer)
			lose(s, conn);
}
