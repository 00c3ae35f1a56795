/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's end of pairs: leases of this node whose queue pair is connected to a spare of a
 * server before a program asks for them. They are taken out of pools, and handed out before others.
 *
 * A program decides by the number of its peer's queue pair whether it has met the other end of its
 * pair. So the number of an end must not be given to another queue pair while the other end may
 * still compare with it: the daemon keeps a copy of the descriptor of a lease with a pair until the
 * server has used or dropped it.
 */
#pragma once

#include "daemon/devices/gid.h"
#include "daemon/pairs/connector.h"
#include "daemon/pairs/edges.h"
#include "daemon/pairs/holder.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/user_names.h"
#include "daemon/pool/build.h"
#include "daemon/pool/pool.h"
#include "daemon/pool/scheduler.h"
#include "daemon/tenants/closer.h"
#include "store/catalog.h"

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
	struct wv_tenant *tenant;
	struct wv_pooled_lease *lease; /* ASKED, READY: the pair's */
	struct wv_pair_holder *holder; /* HANDED_OUT */
	dev_t rdev;		       /* of its lease */
	int fd;			       /* HANDED_OUT, LEFT: keeps the number of the queue pair */
	int64_t since_us;	       /* of the state */
};

/* What was counted since the start. */
struct wv_pairs_tally {
	uint64_t made, used, idle, lost;
	uint64_t refused[WV_PAIR_WHYS]; /* by the server, by the reason */
	uint64_t unlike[WV_PAIR_WHYS];	/* handed out, and not used, by the reason */
};

struct wv_pairs {
	/* Set by the owner. */
	sd_event *event;
	struct wv_workers *workers;
	struct wv_catalog *catalog;
	struct wv_scheduler *scheduler;
	struct wv_builders *builders;
	struct wv_closer *closer;
	struct wv_pair_links *links;
	struct wv_user_names *names;
	wv_issue_fn issue;
	/* Tells a client that the other end of its pair is gone. False: it could not be told. */
	bool (*tell_gone)(struct wv_pair_holder *holder, uint64_t pair);

	struct wv_edges edges;
	struct wv_gids gids;  /* of this node's devices */
	struct wv_line *line; /* connects leases */
	LIST_HEAD(, wv_pair) all;
	unsigned int n;
	uint32_t number; /* the upper half of those of its pairs tells this daemon from others */
	sd_event_source *timer;
	struct wv_pairs_tally tally;
};

/* The time of the loop. */
int64_t wv_pairs_now(const struct wv_pairs *p);

/* The pool of the recipe of @edge; NULL: it is gone. */
struct wv_pool *wv_pair_pool(const struct wv_pairs *p, const struct wv_edge *edge);

/* A new pair of @edge, ASKED, for which @lease of @pool is taken. NULL: memory is short. */
struct wv_pair *wv_pair_add(struct wv_pairs *p, struct wv_edge *edge, struct wv_pool *pool,
			    struct wv_pooled_lease *lease);

/* NULL: there is none of this number. */
struct wv_pair *wv_pair_find(struct wv_pairs *p, uint64_t id);

void wv_pair_enter(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_state state);

/* Whether a program has the lease of @pair, or had it. */
bool wv_pair_is_claimed(const struct wv_pair *pair);

/*
 * Asks the server's daemon, with what the edge adds to @note: its addresses and its user. 0;
 * -EAGAIN if the name of the user is not known yet; or -errno.
 */
int wv_pair_ask(struct wv_pairs *p, const struct wv_edge *edge, struct wv_pair_note note);

/* Says @word of @pair to the server's daemon. */
void wv_pair_say(struct wv_pairs *p, const struct wv_pair *pair, enum wv_pair_word word,
		 enum wv_pair_why why);

/*
 * Keeps the number of the queue pair of @pair, which has its lease, from now on; the tenant of the
 * lease is charged. False: there is no descriptor left.
 */
bool wv_pair_keep_number(struct wv_pair *pair);

/* Harmless if it was not kept. */
void wv_pair_let_number_go(struct wv_pairs *p, struct wv_pair *pair);

/* Forgets @pair, and closes what it still has. */
void wv_pair_forget(struct wv_pairs *p, struct wv_pair *pair);

/*
 * Gives up @pair, which no program has. Its lease can be closed at once: the server gives its end
 * to nobody that has not claimed it.
 */
void wv_pair_drop(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_why why);

/* Forgets @pair, whose lease is as it was before, and puts that back. */
void wv_pair_put_into_pool(struct wv_pairs *p, struct wv_pair *pair);
