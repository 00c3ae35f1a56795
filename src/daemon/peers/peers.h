/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections with the daemons of other nodes: one for each node, kept up, authenticated on both
 * sides. What travels on them is the business of the layer above.
 *
 * Everything is called in the daemon's loop and never waits. A peer that is up may go at any time:
 * messages that were queued may be lost, and down() says so. What is sent between an up() and the
 * next down() arrives in order, or the connection ends; nothing arrives twice. A `struct wv_peer *`
 * may be kept from its up() until its down() returns; else until the caller returns to the loop.
 */
#pragma once

#include "base/log.h"
#include "daemon/config/config.h"
#include "daemon/loop/workers.h"
#include "daemon/peers/dialler.h"
#include "daemon/peers/entrance.h"
#include "daemon/peers/local_end.h"
#include "daemon/peers/peer_table.h"

#include <errno.h>

/*
 * Message types of the layer above start with WV_FRAME_FIRST_MESSAGE; bodies have up to
 * WV_FRAME_BODY bytes.
 */
struct wv_peers_events {
	/* @peer is up: messages can be sent. */
	void (*up)(void *arg, struct wv_peer *peer);
	/* @peer is not up any more. Nothing can be sent to it. */
	void (*down)(void *arg, struct wv_peer *peer);
	/*
	 * A message, which comes from another machine and may be anything. 0; or -EPROTO if it is
	 * malformed or of no known type: the connection ends, and the peer is kept away for a
	 * while. Both sides speak the same version, so an unknown type is never an innocent one.
	 */
	int (*message)(void *arg, struct wv_peer *peer, uint16_t type, const void *body,
		       size_t length);
};

struct wv_peers {
	/* Set by the owner before wv_peers_start(); all of it outlives the peers. */
	sd_event *event;
	struct wv_workers *workers;
	const struct wv_config *config;
	const struct wv_peers_events *events; /* NULL: nothing is sent but what keeps them up */
	void *arg;			      /* of the events */
	unsigned int max_links;		      /* connections, each with a descriptor */

	bool on;	      /* the configuration has peers, and they were started */
	struct wv_line *line; /* asks the DNS, reads credentials */
	struct wv_local_end local;
	struct wv_peer_table table;
	struct wv_entrance entrance;
	struct wv_allowance demand; /* for peers that GIDs ask for */
	struct wv_log_limit strangers_limit, peers_limit;
	sd_event_source *overdue;
};

/* Whether @config names peers. */
bool wv_peers_configured(const struct wv_config *config);

/* Starts what the configuration says; nothing if it names no peers. 0 or -errno. */
int wv_peers_start(struct wv_peers *p);

/* Ends all connections; no event is told. Harmless if nothing was started. */
void wv_peers_stop(struct wv_peers *p);

/*
 * The peer behind @gid, up or not: the one that has the connection, if the node has several
 * addresses. Asking for a peer keeps it dialled. If any peer is allowed, a peer is made for an
 * address that is not known yet. NULL: there is none, it is this node, or no room.
 */
struct wv_peer *wv_peers_find(struct wv_peers *p, const uint8_t gid[static 16]);

/*
 * Whether @peer is the node of @gid: it is known by that address, or its certificate is for it.
 * Asks nobody, so it may be called with what a peer claims.
 */
bool wv_peers_is_at(const struct wv_peers *p, const struct wv_peer *peer,
		    const uint8_t gid[static 16]);

/*
 * Queues a message of @length bytes for @peer. 0; -ENOTCONN if it is not up; -EINVAL if @type is
 * not one of the layer above; -EMSGSIZE; or -ENOBUFS: the peer does not read, so that the
 * connection ends; down() is told later.
 */
static inline int wv_peer_send(struct wv_peer *peer, uint16_t type, const void *body, size_t length)
{
	if (type < WV_FRAME_FIRST_MESSAGE)
		return -EINVAL;
	return peer->up ? wv_link_send(peer->up, type, body, length) : -ENOTCONN;
}

/* Whether half of what may wait to be sent to @peer does. */
static inline bool wv_peer_is_slow(const struct wv_peer *peer)
{
	return peer->up && wv_outbox_waiting(&peer->up->out) > WV_OUTBOX_MOST / 2;
}
