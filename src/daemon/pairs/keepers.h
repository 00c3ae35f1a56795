/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's end of pairs: processes of this node that keep spares and can connect them to queue
 * pairs of clients, on this node or others.
 *
 * Whatever a keeper says is about its own queue pairs, and is believed only of those. A peer is
 * served for a user only by the processes of the user of that name.
 */
#pragma once

#include "daemon/pairs/links.h"
#include "daemon/pairs/user_names.h"
#include "daemon/tenants/tenant.h"

#define WV_KEEPER_RECENT  64 /* connections that a keeper is known to have */
#define WV_KEEPER_PAIRS	  256
#define WV_KEEPERS_MOST	  256
#define WV_KEEPERS_OF_ONE 32  /* of one tenant */
#define WV_EDGES_WAITING  128 /* questions that no keeper has answered yet */

/* A pair whose server's end a keeper has. */
struct wv_kept_pair {
	LIST_ENTRY(wv_kept_pair) link;
	struct wv_peer *origin; /* where the client is; NULL: on this node; or WV_LOST_PEER */
	uint64_t pair;		/* the client's daemon's number of it */
	uint64_t number;	/* the keeper's */
	int64_t since_us;	/* by the steady clock */
	uint8_t gid[16], peer_gid[16]; /* of the keeper's end, once it is made; of the client's */
	bool made;
};

struct wv_keeper {
	LIST_ENTRY(wv_keeper) link;
	void *client; /* for tell() */
	const struct wv_tenant *tenant;
	uid_t uid;
	uint32_t id;
	struct wv_pair_note recent[WV_KEEPER_RECENT]; /* CONNECTED, in a ring */
	unsigned int n_recent;
	LIST_HEAD(, wv_kept_pair) pairs;
	unsigned int n_pairs;
};

struct wv_edge_question {
	struct wv_peer *origin;
	struct wv_pair_note note; /* of no word: unused */
};

struct wv_keepers {
	/* Set by the owner. */
	struct wv_pair_links *links;
	struct wv_user_names *names;
	/* Sends @note to a keeper. 0 or -errno. */
	int (*tell)(void *client, const struct wv_pair_note *note);

	LIST_HEAD(, wv_keeper) all;
	unsigned int n;
	uint32_t last_id;
	uint64_t last_number;
	struct wv_edge_question waiting[WV_EDGES_WAITING]; /* a ring */
	unsigned int n_waiting;
};

/* A process of @uid, for which @tenant is charged, becomes a keeper. NULL: there are too many. */
struct wv_keeper *wv_keeper_add(struct wv_keepers *k, void *client, uid_t uid,
				const struct wv_tenant *tenant);

/* The process has ended. */
void wv_keeper_remove(struct wv_keepers *k, struct wv_keeper *keeper);

/* What a keeper says. 0; or -EPROTO if no keeper says such a thing. */
int wv_keeper_says(struct wv_keepers *k, struct wv_keeper *keeper, const struct wv_pair_note *note);

/* A note from the client's daemon @from, whose word is one for the server's end. */
void wv_keepers_note(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *note);

/* The address of @gid has changed: ends that use it, and that no program has, are given up. */
void wv_keepers_moved(struct wv_keepers *k, const uint8_t gid[16]);

/*
 * The connection to @peer is lost. Its pairs stay with their keepers, since a client may have the
 * other end. But those that the server's program does not have yet are given to it no more: if the
 * node of the peer has gone, its next queue pairs have the numbers of those before.
 */
void wv_keepers_peer_down(struct wv_keepers *k, struct wv_peer *peer);

/*
 * There is a connection to @peer: asks it about pairs of peers that were lost. If its node was
 * started again, the other ends are gone.
 */
void wv_keepers_peer_up(struct wv_keepers *k, struct wv_peer *peer);
