/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policy: how many leases of each recipe should wait. It is pure: the time is passed in, in
 * microseconds of a steady clock, and nothing but the arguments is changed.
 *
 * A pool should hold as many leases as were claimed between two moments at which it was full: so
 * many programs start together. An unused pool is halved every idle time and keeps one lease, until
 * WV_IDLE_PERIODS idle times have passed; then it is empty. Its recipe stays on disk.
 */
#pragma once

#include "daemon/tenants/use.h"

#include <stdbool.h>

#define WV_IDLE_PERIODS 6
/*
 * A burst lasts at most this long, so that a steady stream does not pass for a burst. So does a
 * use: the opens of one run, or of a server and its client.
 */
#define WV_BURST_US 1000000
/* A lease that exists gives way only to one that is due so many times sooner. */
#define WV_KEEP 4

struct wv_demand {
	int64_t last_us;    /* of the last claim */
	int64_t use_us;	    /* of the first claim of the current use */
	uint64_t use_turn;  /* of the same claim; 0: not known */
	uint64_t period;    /* claims of the tenant from one use to the next; 0: not known */
	int64_t burst_us;   /* of the first claim of the current burst */
	int64_t full_us;    /* when the pool was last at its target */
	int64_t reached_us; /* when `level` was last needed */
	uint32_t burst;	    /* claims since the pool was full */
	uint32_t level;
	bool was_full; /* since the first claim of the burst */
};

/* Initialises the demand of a recipe of which only the time of the last claim is known. */
void wv_demand_init(struct wv_demand *d, int64_t last_us);

/* A program asked for a lease, whether there was one or not. */
struct wv_claim {
	int64_t now_us;
	int64_t asked_us; /* when; before now if the program had to be recorded first */
	uint64_t turn;	  /* number of the claim among those of the tenant, from 1 */
};

/*
 * Notes a claim. Programs that asked together are a burst even if their recordings come one after
 * the other, and the pool was full in between: next time they ask together again.
 */
void wv_demand_claim(struct wv_demand *d, const struct wv_claim *claim, int64_t idle_us);

/*
 * When the next use is expected, judged by the last two: after so many more claims of the tenant,
 * of which @turn is the last. As many as last time, as in a test suite that is run again and again;
 * less than 0 if it is overdue. What is overdue by a whole period more is not expected any more,
 * and the less, the longer ago it was used. What was used once is, for lack of a period, expected
 * soon: a program is often started again. Claims are counted rather than time, which depends on how
 * busy the machine is.
 */
int64_t wv_demand_due(const struct wv_demand *d, uint64_t turn);

/* Notes that the pool is at its target. */
void wv_demand_full(struct wv_demand *d, int64_t now_us);

/* How many leases should wait, regardless of the budgets. */
uint32_t wv_demand_target(const struct wv_demand *d, int64_t now_us, int64_t idle_us);

struct wv_limits {
	uint32_t leases_per_recipe;
	struct wv_use user, total; /* of a tenant, of all */
};

/* Whether one more lease of @cost fits into @limit, of which @use is taken up already. */
bool wv_has_room(const struct wv_use *use, const struct wv_use *limit, const struct wv_cost *cost);

struct wv_pool;

struct wv_want {
	struct wv_pool *pool; /* the caller's own */
	int64_t due;	      /* as wv_demand_due() says */
	int64_t unsure;	      /* the next use may be so many claims earlier or later */
	bool stays;	      /* what is held gives way to nothing */
	const struct wv_cost *cost;
	struct wv_use *planned; /* of its tenant; wv_plan() zeroes it and fills it in */
	uint32_t target;	/* regardless of the budgets */
	uint32_t held;		/* leases that exist already */
	uint32_t granted;	/* the result: within the budgets */
};

/* Puts the entries in front that are due first. */
void wv_wants_sort(struct wv_want *wants, unsigned int n);

/*
 * Shares the budgets among the @n entries of @wants, which are sorted. In each round every entry is
 * granted one more lease if it wants one and both its tenant's limit and the total have room. Of
 * one round, those come first that have the lease already, unless they give way to others that are
 * due much sooner: else leases would be closed and made again whenever the order changes, and
 * closing takes time from everybody. Then those come first that are due first. No tenant gets more
 * than an equal share of the total.
 */
void wv_plan(struct wv_want *wants, unsigned int n, const struct wv_limits *limits);
