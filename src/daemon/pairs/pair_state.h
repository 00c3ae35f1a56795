/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that the daemon knows of pairs.
 *
 * The client's end: leases of this node whose queue pair is connected to a spare of a server before
 * a program asks for them. They are taken out of pools, and handed out before others.
 *
 * The server's end: processes of this node that keep spares, and reserve them, when asked, for
 * pairs of clients, on this node or others.
 *
 * A program decides by the number of its peer's queue pair whether it has met the other end of its
 * pair. So the number of an end must not be given to another queue pair while the other end may
 * still compare with it: the daemon keeps a copy of the descriptor of a lease with a pair until the
 * server has dropped it.
 */
#pragma once

#include "daemon/devices/addresses.h"
#include "daemon/devices/gid.h"
#include "daemon/pairs/edges.h"
#include "daemon/peers/peers.h"
#include "daemon/peers/user_names.h"
#include "daemon/pool/build.h"
#include "daemon/pool/handed_out.h"
#include "daemon/pool/pool.h"
#include "daemon/pool/scheduler.h"
#include "daemon/tenants/closer.h"
#include "store/catalog.h"

struct wv_pair_letter {
	STAILQ_ENTRY(wv_pair_letter) link;
	struct wv_pair_note note;
};

#define WV_KEEPER_RECENT  64 /* connections that a keeper is known to have */
#define WV_KEEPER_PAIRS	  256
#define WV_KEEPERS_MOST	  256
#define WV_KEEPERS_OF_ONE 32  /* of one tenant */
#define WV_EDGES_WAITING  128 /* questions that no keeper has answered yet */

/* A pair whose server's end a keeper has. */
struct wv_kept_pair {
	LIST_ENTRY(wv_kept_pair) link;
	struct wv_keeper *keeper;
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
	int sock; /* the process is told there; -1: the program has closed it, and goes on */
	struct wv_end_watch end; /* of the process, then */
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
	LIST_HEAD(, wv_keeper) all;
	unsigned int n;
	struct wv_edge_question waiting[WV_EDGES_WAITING]; /* a ring */
	unsigned int n_waiting;
	sd_event_source *again;
};

/* By docs/scale.md. */
#define WV_PAIRS_PER_EDGE 64
#define WV_PAIRS_GUESSED  4 /* of an edge whose server must guess: few can be used in a burst */
#define WV_PAIRS_MOST	  1024

enum wv_pair_state {
	WV_PAIR_ASKED,	    /* the server's daemon was asked */
	WV_PAIR_CONNECTING, /* the server's end is connected; a thread connects the client's */
	WV_PAIR_CANCELLED,  /* the same, and nobody wants it any more */
	WV_PAIR_READY,
	WV_PAIR_HANDED_OUT, /* a program has the lease */
	WV_PAIR_LEFT,	    /* the program has ended; the server does not know yet */
};

struct wv_pair {
	LIST_ENTRY(wv_pair) link;
	uint64_t id;
	enum wv_pair_state state;
	struct wv_edge *edge;
	struct wv_peer *peer; /* where the server is; NULL: on this node; or WV_LOST_PEER */
	uint8_t peer_gid[16];
	struct wv_tenant *tenant;
	struct wv_pooled_lease *lease; /* ASKED, READY: the pair's */
	struct wv_pair **held;	       /* HANDED_OUT: the client's pair, which is this one */
	int sock;		       /* HANDED_OUT: the client's connection; -1: it is closed */
	struct wv_end_watch end;       /* of the client's process, then */
	dev_t rdev;		       /* of its lease */
	int fd;			       /* HANDED_OUT, LEFT: keeps the number of the queue pair */
	int64_t since_us;	       /* of the state */
	bool is_unlike;		       /* HANDED_OUT: connected by commands, to whomever */
	bool is_used;		       /* the server's program has connected its end */
};

/* What was counted since the start. */
struct wv_pairs_tally {
	uint64_t made, used, idle, lost;
	uint64_t refused[WV_PAIR_WHYS]; /* by the server, by the reason */
	uint64_t unlike[WV_PAIR_WHYS];	/* handed out, and commands needed all the same */
};

struct wv_pairs {
	/* Set by the owner. */
	sd_event *event;
	struct wv_workers *workers;
	struct wv_catalog *catalog;
	struct wv_scheduler *scheduler;
	struct wv_builders *builders;
	struct wv_closer *closer;
	struct wv_peers *peers;
	struct wv_user_names *names;
	bool with_peers; /* else there are pairs on this node only */
	wv_issue_fn issue;

	STAILQ_HEAD(, wv_pair_letter) own; /* notes to this node */
	unsigned int n_own;
	sd_event_source *own_source;
	struct wv_keepers keepers;
	struct wv_addresses addresses;
	/* Of the client's end: */
	struct wv_edges edges;
	struct wv_gids gids;  /* of this node's devices */
	struct wv_line *line; /* connects leases */
	LIST_HEAD(, wv_pair) all;
	unsigned int n;
	uint32_t number; /* the upper half of those of its pairs tells this daemon from others */
	sd_event_source *timer;
	struct wv_pairs_tally tally;
};
