/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer: the daemon of another node, as this one knows it. A peer is an address; a node with
 * several addresses may be several peers, of which one has the connection.
 */
#pragma once

#include "daemon/config/node_address.h"
#include "daemon/peers/link.h"
#include "wire/pair.h"

#define WV_PEER_IPS 4 /* of one name */

enum wv_peer_state {
	WV_PEER_IDLE,	    /* nobody asks for it */
	WV_PEER_CONNECTING, /* name, TCP, TLS, hello */
	WV_PEER_UP,
	WV_PEER_BACKING_OFF, /* it cannot be reached; tried again soon */
	WV_PEER_REFUSED,     /* one of the two does not accept the other; tried again, seldom */
	WV_PEER_SELF,	     /* it is this daemon */
	WV_PEER_SAME,	     /* another address of a peer that is up */
	WV_PEER_STATES
};

struct wv_peer {
	/*
	 * Only the layer above counts: pairs with it that were used (WV_PAIR_NO_REASON), or handed
	 * out and not used, by the reason.
	 */
	uint64_t pairs[WV_PAIR_WHYS];
	/* The rest belongs to the layer below, and may be read. */
	struct wv_node_address node;
	enum wv_peer_state state;
	char why[WV_TLS_WHY];	 /* BACKING_OFF, REFUSED: the reason */
	struct wv_peer *same_as; /* SAME */
	struct wv_link *up;	 /* UP */
	int64_t up_us;		 /* since when */

	TAILQ_ENTRY(wv_peer) entry;
	struct wv_local_end *local;
	bool configured;
	struct in6_addr ips[WV_PEER_IPS];
	unsigned int n_ips;
	struct wv_link *dial;	   /* in progress */
	struct wv_work *resolving; /* in progress */
	unsigned int failures;	   /* in a row */
	int64_t wanted_us;	   /* when somebody asked for it last */
	sd_event_source *due;	   /* of the next attempt */
	struct wv_allowance handshakes;
};

TAILQ_HEAD(wv_peer_list, wv_peer);

/* The place of a peer whose connection was lost. */
#define WV_LOST_PEER ((struct wv_peer *)-1)

/* Whether the node of @peer, which is up, was started after @since_us of the steady clock. */
static inline bool wv_peer_is_rebooted(const struct wv_peer *peer, int64_t since_us)
{
	return peer->up_us > since_us && peer->up->hello.up_us < (uint64_t)(peer->up_us - since_us);
}
