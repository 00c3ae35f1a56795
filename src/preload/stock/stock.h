/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shapes of the queue pairs that this process makes, and how many spares of each there should
 * be. No verb is called here, and the lock of the stock guards it.
 *
 * A shape gets spares once several queue pairs in a row were made in the same way. From then on,
 * there are as many as the program has asked for since the last look, within limits. A shape that
 * the program has not asked for in a while gets none.
 */
#pragma once

#include "preload/core/worker_lock.h"
#include "preload/stock/shape.h"
#include "preload/stock/young.h"

#include <stdbool.h>
#include <stdint.h>

#define WV_STOCK_SHAPES	    8
#define WV_STOCK_SPARES	    16 /* of one shape, at most */
#define WV_STOCK_AT_LEAST   2  /* of a shape that is in use */
#define WV_STOCK_AGREE	    3  /* queue pairs that show the pattern */
#define WV_STOCK_IDLE_MS    5000
#define WV_STOCK_PAUSE_MS   1000 /* after a verb that failed (base/backoff.h) */
#define WV_STOCK_LONGEST_MS 64000
#define WV_STOCK_SOON_MS    100 /* while the program is recorded, or takes those of its lease */

/*
 * Two locks, taken in this order, and before that of the control path. A fork takes both.
 *
 * The maker's lock is held for one spare at a time, while verbs are called for it, and by whoever
 * destroys what spares use: then no spare is half made. The lock of the stock is held for moments
 * only; it guards the stock and the young queue pairs.
 */
extern struct wv_worker_lock wv_making;
void wv_stock_lock(void);
void wv_stock_unlock(void);

struct wv_shape {
	bool is_used;
	struct wv_qp_key key;
	struct wv_init_moves moves;
	uint32_t agreed;   /* queue pairs in a row that were moved so */
	uint32_t demand;   /* queue pairs that the program asked for since the last look */
	uint32_t wanted;   /* spares */
	uint32_t n;	   /* spares that are there */
	bool is_stocked;   /* a spare was made at some time */
	uint32_t failures; /* of verbs, in a row */
	uint64_t pause_until_ms, asked_ms;
	/* For pairs (pairs/partner.h): */
	uint64_t number;    /* of this shape and of none after it, at random; 0: none yet */
	uint32_t connected; /* queue pairs in a row that were connected to a GID, and created so: */
	bool by_request;
	uint8_t gid[16]; /* from which the last one that the daemon has heard of was connected */
};

/* The shape after @shape, or the first one if @shape is NULL. NULL after the last. */
struct wv_shape *wv_stock_after(const struct wv_shape *shape);
#define wv_each_shape(shape)                                                                       \
	for (struct wv_shape *shape = wv_stock_after(NULL); shape; shape = wv_stock_after(shape))

/* NULL: there is no shape of this key. */
struct wv_shape *wv_stock_find(const struct wv_qp_key *key);

/*
 * The program creates a queue pair of this key: counts it, and finds its shape. NULL: there is no
 * room for a new shape.
 */
struct wv_shape *wv_stock_ask(const struct wv_qp_key *key, uint64_t now_ms);

/*
 * Takes a spare, which is to be in @state from then on. Children may destroy it until the program
 * has it (WV_YOUNG_AHEAD). NULL: there is none.
 */
struct wv_young_qp *wv_stock_take(struct wv_shape *shape, enum wv_young_state state);

/* A spare that was taken, and that nobody has used, is as the others again. */
void wv_stock_return(struct wv_young_qp *spare);

/* Whether it is time to look what is wanted: half of the spares are taken. */
bool wv_stock_is_low(const struct wv_shape *shape);

/*
 * A queue pair of this key was moved so, by commands or as a spare. Returns whether the shape may
 * have spares.
 */
bool wv_stock_agree(const struct wv_qp_key *key, const struct wv_init_moves *moves);

/* A spare of this key was not moved as the queue pairs before it: the pattern must show again. */
void wv_stock_differ(const struct wv_qp_key *key);

/* Looks how many spares each shape should have. */
void wv_stock_plan(uint64_t now_ms);

/* Says in @spare what a spare that is lacking is made by: its key and moves. False: none is. */
bool wv_stock_lacking(struct wv_young_qp *spare, uint64_t now_ms);

/* Adds @spare, which was made, and has a ticket that is good. False: it is not wanted any more. */
bool wv_stock_add(const struct wv_young_qp *spare);

/* A spare of @key cannot be made yet; @failed: since a verb has failed. */
void wv_stock_put_off(const struct wv_qp_key *key, bool failed, uint64_t now_ms);

/* Takes back a spare that is not wanted any more. NULL: there is none. */
struct wv_young_qp *wv_stock_surplus(void);

/* Forgets the shapes that use @object (NULL: all); their spares are WV_YOUNG_OVER. */
void wv_stock_withdraw(const void *object);

/* How many spares there are. */
uint32_t wv_stock_count(void);

/* In a forked child: the shapes are the parent's. */
void wv_stock_forked(void);
