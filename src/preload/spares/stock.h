/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spares of this process, by shape, and how many of each there should be. No verb is called
 * here, and the caller guards the stock.
 *
 * A shape gets spares once several queue pairs in a row were made in the same way. From then on,
 * there are as many as the program has asked for since the last look, within limits. A shape that
 * the program has not asked for in a while gets none.
 */
#pragma once

#include "preload/core/provider.h"
#include "preload/spares/connect_steps.h"
#include "preload/spares/shape.h"

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

struct wv_spare {
	struct ibv_qp *qp;
	struct ibv_qp_cap cap; /* as the verb returned it */
	struct wv_ring ring;   /* of its receives */
};

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
	uint64_t number;    /* of this shape and of none after it */
	uint32_t connected; /* queue pairs in a row that were connected so: */
	struct wv_connection connection;
	struct wv_spare spares[WV_STOCK_SPARES];
};

/*
 * The program creates a queue pair of this key: counts it, and finds its shape. NULL: there is no
 * room for a new shape.
 */
struct wv_shape *wv_stock_ask(const struct wv_qp_key *key, uint64_t now_ms);

/* Takes a spare. False: there is none. */
bool wv_stock_take(struct wv_shape *shape, struct wv_spare *spare);

/* Whether it is time to look what is wanted: half of the spares are taken. */
bool wv_stock_is_low(const struct wv_shape *shape);

/*
 * A queue pair of this key was moved so, by commands or as a spare. Returns whether the shape may
 * have spares.
 */
bool wv_stock_agree(const struct wv_qp_key *key, const struct wv_init_moves *moves);

/* A spare of this key was not moved as the queue pairs before it: the pattern must show again. */
void wv_stock_differ(const struct wv_qp_key *key);

/*
 * A queue pair of this key was connected so (NULL: in a way that cannot be repeated). Returns the
 * number of the shape if the next ones are likely to be, and it has spares; or 0.
 */
uint64_t wv_stock_connected(const struct wv_qp_key *key, const struct wv_connection *connection);

/* NULL: there is no such shape any more. */
struct wv_shape *wv_stock_numbered(uint64_t number);

/* Looks how many spares each shape should have. */
void wv_stock_plan(uint64_t now_ms);

/* What a spare is made by. */
struct wv_order {
	struct wv_qp_key key;
	struct wv_init_moves moves;
};

/* Fills in the order of a spare that is lacking. False: none is. */
bool wv_stock_lacking(struct wv_order *order, uint64_t now_ms);

/* Adds the spare of @order. False: it is not wanted any more. */
bool wv_stock_add(const struct wv_order *order, const struct wv_spare *spare);

/* The spare of @order could not be made. */
void wv_stock_fail(const struct wv_order *order, uint64_t now_ms);

/* A spare of @order cannot be made yet, though nothing has failed. */
void wv_stock_put_off(const struct wv_order *order, uint64_t now_ms);

/* Takes back a spare that is not wanted any more. False: there is none. */
bool wv_stock_surplus(struct wv_spare *spare);

/*
 * Takes back a spare that uses @object (NULL: any spare). False after the last one; the shapes are
 * forgotten then.
 */
bool wv_stock_withdraw(const void *object, struct wv_spare *spare);

/* How many spares there are. */
uint32_t wv_stock_count(void);

/* In a forked child: the spares are the parent's. */
void wv_stock_forget(void);
