/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This process's ends of pairs: spares that were connected to queue pairs of clients ahead of the
 * program (wire/pair.h). No verb is called here, and the caller guards the table.
 */
#pragma once

#include "preload/spares/requests.h"
#include "preload/spares/stock.h"
#include "wire/pair.h"

#define WV_PAIR_ENDS	  256
#define WV_PAIR_ENDS_LOST 8 /* no more pairs then: each takes up a queue pair */

enum wv_end_state {
	WV_END_FREE,
	WV_END_READY,	/* connected, and not the program's */
	WV_END_CLAIMED, /* so, and a program has received the client's end */
	WV_END_TAKEN,	/* the program's, which has not connected it yet */
	WV_END_PARTED,	/* the program's, which has connected it to somebody else */
	WV_END_LEAVING, /* to be destroyed once the client's end is no part of the pair any more */
	WV_END_LOST,	/* the same, but nobody will say so */
};

struct wv_pair_end {
	enum wv_end_state state;
	struct wv_pair_note note; /* as it was said to be made; pair is 0 once nobody is to ask */
	struct wv_qp_key key;
	struct wv_init_moves moves;
	struct wv_connection made; /* as it is connected */
	struct wv_spare spare;
	/* Once taken: */
	bool gone;	  /* the partner is */
	bool ahead;	  /* the queue pair is connected, whatever the program knows */
	bool can_receive; /* the program has moved it to RTR, as the pair is */
	bool was_reset;	  /* put back to RESET, which the program never left */
	uint32_t n;	  /* moves to INIT that the program has made */
};

/* Adds @end. The caller has made sure that there is room. */
void wv_pair_end_add(const struct wv_pair_end *end);
bool wv_pair_end_has_room(void);

void wv_pair_end_free(struct wv_pair_end *end);

/* The @i'th place, which may be free; NULL: it was never used, and none behind it. */
struct wv_pair_end *wv_pair_end_at(unsigned int i);

/* By the number of the pair; NULL: there is none. */
struct wv_pair_end *wv_pair_end_find(uint64_t pair);

/* The end that is @qp, of the program; NULL: there is none. */
struct wv_pair_end *wv_pair_end_of(const struct ibv_qp *qp);

/*
 * The end for the next queue pair of @key, which was claimed and not taken. If the queue pairs of
 * the shape are created for requests, that with the client of @request; otherwise the only one.
 * NULL: there is none, or it is not certain which.
 */
struct wv_pair_end *wv_pair_end_named(const struct wv_qp_key *key,
				      const struct wv_request *request);

/* One in a state of @states (bits), that uses @object (NULL: any). NULL: there is none. */
struct wv_pair_end *wv_pair_end_in(uint32_t states, const void *object);
#define WV_END_BIT(state) (1u << (state))

/* Whether there are any. May be called without the guard. */
bool wv_pair_end_any(void);

/*
 * Nobody can say any more what becomes of the other ends. If this process @left the daemon, the
 * other ends are told that it has ended, so they are gone. If the daemon is gone, they are told
 * nothing, and both sides of a pair that the program has keep to it.
 */
void wv_pair_ends_lost(bool left);

/* In a forked child: keeps those of the program, of which nobody will say anything. */
void wv_pair_ends_forked(void);
