/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections to services, by their numbers. */
#pragma once

#include "daemon/peers/frame.h"
#include "wire/service_note.h"

#include <sys/queue.h>

struct wv_peer;
struct wv_service_process;

/* A connection of a client's process to a service's, of which one may be on another node. */
struct wv_service_conn {
	uint64_t number;
	/* NULL: on another node, or gone. */
	struct wv_service_process *client, *service;
	LIST_ENTRY(wv_service_conn) client_link, service_link;
	uint64_t client_number;	     /* as the client's process calls it */
	struct wv_service_note *ask; /* not passed on yet: a name or a peer is waited for */
	bool is_making;		     /* the service has said by what queue pair */
	bool is_made;		     /* and has connected it */
	/*
	 * What is still to be said, as soon as the other side reads: enum wv_service_word, or 0. If
	 * one end is gone, GONE, to who has the other; or STILL, to the other node.
	 */
	uint16_t unsaid;
	/* If the two are on two nodes: */
	struct wv_peer *peer; /* the other node; NULL: there is none; or WV_LOST_PEER */
	uint64_t peer_number; /* as its daemon calls it; 0: not known yet */
	uint8_t daemon[WV_NODE_ID], gid[16]; /* of it, and of its end */
	int64_t since_us;
};

#define WV_CONN_SLOT_BITS 14
#define WV_CONNS_MOST	  (1u << WV_CONN_SLOT_BITS) /* of all users, who share them */

/* Zeroed at first. */
struct wv_conn_table {
	struct wv_service_conn **slots;
	unsigned int n_slots, n, next; /* @next: where to look for room */
	uint64_t count;		       /* tells apart what had the same slot, and daemons */
};

/* A new connection, zeroed but for its number. NULL: memory is short, or all numbers are used. */
struct wv_service_conn *wv_conn_add(struct wv_conn_table *t);

/* NULL: there is none of this number. */
struct wv_service_conn *wv_conn_find(const struct wv_conn_table *t, uint64_t number);

void wv_conn_free(struct wv_conn_table *t, struct wv_service_conn *conn);

/* Each connection @conn, which the body may free. */
#define wv_each_conn(t, conn)                                                                      \
	for (unsigned int slot_ = 0; slot_ < (t)->n_slots; slot_++)                                \
		for (struct wv_service_conn *conn = (t)->slots[slot_]; conn; conn = NULL)
