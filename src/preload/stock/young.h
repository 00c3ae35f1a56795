/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs between their creation and their connection: spares, those that the program has, and
 * those whose number must not become that of another one yet. No verb is called here, and the lock
 * of the stock guards the table.
 */
#pragma once

#include "abi/qp.h"
#include "preload/stock/shape.h"
#include "preload/stock/tickets.h"

#include <stdbool.h>

/* WV_STOCK_SPARES of WV_STOCK_SHAPES shapes are ready at most (stock.h). */
#define WV_YOUNG_READY_MOST 128
#define WV_YOUNG_OWN	    32	/* of the program, without a partner */
#define WV_YOUNG_PAIRED	    256 /* with a partner */
#define WV_YOUNG_LOST_PAIRS 8	/* of them, that were claimed: no more pairs then */

enum wv_young_state {
	WV_YOUNG_NONE, /* an unused place */

	/* Spares. They are in INIT, and the program does not have them: */
	WV_YOUNG_READY,	   /* for the next queue pair of the shape */
	WV_YOUNG_RESERVED, /* for the client that has the other end of the pair */
	WV_YOUNG_CLAIMED,  /* the same, and a program has received that other end */

	/* Queue pairs of the program: */
	WV_YOUNG_AHEAD,	  /* a spare that the program has not moved to INIT, or not often enough */
	WV_YOUNG_LEARNED, /* its moves to INIT were commands, from which a shape is learned */
	WV_YOUNG_GROWN,	  /* it has made all moves to INIT */
	WV_YOUNG_CONNECTED, /* it is an end of a pair, and connected to whomever */

	/* Nobody's: */
	WV_YOUNG_PAST,	  /* the queue pair is young no more; the daemon is to hear of it */
	WV_YOUNG_LEAVING, /* to be destroyed once the other end is no part of the pair any more */
	WV_YOUNG_LOST,	  /* the same, but nobody will say so */
	WV_YOUNG_OVER,	  /* to be destroyed */
	WV_YOUNG_STATES,
};
#define WV_YOUNG_BIT(state) (1u << (state))
#define WV_YOUNG_BITS(a, z) (WV_YOUNG_BIT((z) + 1) - WV_YOUNG_BIT(a)) /* from @a to @z */
#define WV_YOUNG_UNTAKEN    WV_YOUNG_BITS(WV_YOUNG_RESERVED, WV_YOUNG_CLAIMED)
#define WV_YOUNG_OF_PROGRAM WV_YOUNG_BITS(WV_YOUNG_AHEAD, WV_YOUNG_CONNECTED)

/* The other end of a pair (wire/pair.h). */
struct wv_partner {
	struct wv_qp_peer peer; /* qp_num 0: the queue pair is no end of a pair */
	uint64_t pair;		/* 0: nobody is to be told of it */
	uint8_t own_gid[16];	/* of the queue pair itself, as the other end knows it */
	bool gone;		/* it is no part of the pair any more: its number means nothing */
	bool claimed;		/* a program has received it */
};

struct wv_young_qp {
	enum wv_young_state state;
	struct ibv_qp *qp;
	uint32_t qp_num; /* of @qp, also when that is destroyed */
	struct wv_qp_key key;
	struct ibv_qp_cap cap;	    /* of a spare, as the verb returned it */
	struct wv_ticket ticket;    /* of one that the program does not have */
	struct wv_init_moves moves; /* of a spare: all; otherwise those that the program has made */
	uint32_t n;		    /* moves that the program has made */
	bool was_reset;	 /* a spare that was put back to RESET, which the program never left */
	bool by_request; /* the program creates it for a request that names the peer (requests.h) */
	bool met;	 /* it is moved to RTR, towards its partner */
	bool used;	 /* it was connected to its partner once */
	bool is_elsewhere; /* of a copy: its move to RTR is from another GID than partner.own_gid */
	struct wv_partner partner;

	/* How the program has connected it; qp_num 0: not by a GID. */
	struct wv_qp_peer peer;
	uint8_t port, sgid_index;
	uint64_t shape;	  /* the number of its shape, of which the daemon is to hear */
	uint64_t lost_ms; /* LOST: since when */
	uint32_t news;	  /* what the daemon is to hear: bits. Set by wv_young_set_news() */
	uint16_t why;	  /* enum wv_pair_why */
};

/* The one after @young, or the first if @young is NULL. NULL after the last. */
struct wv_young_qp *wv_young_after(const struct wv_young_qp *young);
#define wv_each_young(y)                                                                           \
	for (struct wv_young_qp *y = wv_young_after(NULL); y; y = wv_young_after(y))

/* Of how many @which says so. */
unsigned int wv_young_count(bool (*which)(const struct wv_young_qp *young));

/* Whether there is room for one more of the program, without a partner. */
bool wv_young_has_room(void);

/*
 * Adds a queue pair, and returns its place. One of the program from which a shape is learned makes
 * room. NULL: there is none.
 */
struct wv_young_qp *wv_young_add(const struct wv_young_qp *young);

/* One that the program has; NULL: the queue pair is not young. */
struct wv_young_qp *wv_young_find(const struct ibv_qp *qp);

/* In a state of @states (bits), that uses @object (NULL: any). NULL: there is none. */
struct wv_young_qp *wv_young_in(uint32_t states, const void *object);

/* A spare of this key that is ready. NULL: there is none. */
struct wv_young_qp *wv_young_ready(const struct wv_qp_key *key);

/* Changes the state: a place that is not in use any more is WV_YOUNG_NONE. */
void wv_young_enter(struct wv_young_qp *young, enum wv_young_state state);

/* Changes of what the daemon is to hear; and whether it is to hear anything of any. */
void wv_young_set_news(struct wv_young_qp *young, uint32_t words);
bool wv_young_any_news(void);

/* Whether its number still means something to a partner. */
bool wv_young_has_partner(const struct wv_young_qp *young);

/*
 * Whether its number must not become another queue pair's yet. If the daemon is gone after the
 * program has connected it to its partner, nobody could ever say that it may.
 */
bool wv_young_keeps_number(const struct wv_young_qp *young);

/* Whether the program has any. May be called without the lock. */
bool wv_young_any(void);

/*
 * In a forked child: all are the parent's, but a child may connect what the program has made for
 * it. So it keeps the partners of those, of which nobody will say anything.
 */
void wv_young_forked(void);
