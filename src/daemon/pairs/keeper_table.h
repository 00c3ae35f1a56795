/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of this node that keep spares, and the ends of pairs that they have. */
#pragma once

#include "daemon/pairs/links.h"
#include "daemon/pairs/user_names.h"
#include "daemon/peers/allowance.h"
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
	uint8_t daemon[WV_NODE_ID];    /* of the client, if it is not this one */
	bool made;
	bool claimed;	 /* a program has the client's end */
	bool overdue;	 /* nobody has claimed it in time */
	bool lost;	 /* the keeper has dropped its end */
	uint16_t untold; /* enum wv_pair_word that the keeper is to be told; 0: none */
};

struct wv_keeper {
	LIST_ENTRY(wv_keeper) link;
	void *client; /* for tell() */
	const struct wv_tenant *tenant;
	uid_t uid;
	uint64_t id; /* a number that only those know who were told of the process */
	struct wv_pair_note recent[WV_KEEPER_RECENT]; /* CONNECTED, in a ring */
	unsigned int n_recent;
	LIST_HEAD(, wv_kept_pair) pairs;
	unsigned int n_pairs;
	struct wv_allowance asks; /* not of time: of pairs */
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
	struct wv_edge_question waiting[WV_EDGES_WAITING]; /* a ring */
	unsigned int n_waiting;
	sd_event_source *again;
};
