/*
 * How many leases of which recipe should wait. Pure: time is passed in, in microseconds of a steady
 * clock, and nothing is touched.
 *
 * A pool should hold as many leases as were asked for between two times that it was full: that is
 * how many programs start together. Unused, it is halved every idle time, keeps one lease for
 * WV_IDLE_PERIODS of them, then none; its recipe stays on disk.
 */
#pragma once

#include "cmdlog/validate.h"

#include <stdbool.h>

#define WV_IDLE_PERIODS 6
/* A burst lasts at most this long, so that a steady stream is not mistaken for one. */
#define WV_BURST_US 1000000

struct wv_demand {
	int64_t last_us;    /* of the last claim */
	int64_t burst_us;   /* of the first claim of the burst under way */
	int64_t reached_us; /* when `level` was last needed */
	uint32_t burst;	    /* claims since the pool was full */
	uint32_t level;
};

/* The demand of a recipe that was last claimed at @last_us, of which no more is known. */
void wv_demand_init(struct wv_demand *d, int64_t last_us);

/* Somebody asked for a lease, whether there was one or not. */
void wv_demand_claim(struct wv_demand *d, int64_t now_us, int64_t idle_us);

/* The pool holds all that it should. */
void wv_demand_full(struct wv_demand *d);

/* How many leases should wait, budgets aside. */
uint32_t wv_demand_target(const struct wv_demand *d, int64_t now_us, int64_t idle_us);

/* What leases take up; of one user, or of all. */
struct wv_use {
	uint32_t leases;
	uint32_t fds;
	uint64_t bytes;
};

struct wv_limits {
	uint32_t leases_per_recipe;
	struct wv_use user, total;
};

/* Whether one more lease of @cost fits into @limit, where @use is taken up already. */
bool wv_has_room(const struct wv_use *use, const struct wv_use *limit, const struct wv_cost *cost);

struct wv_want {
	const struct wv_cost *cost;
	uint32_t user;	  /* index into users */
	uint32_t target;  /* budgets aside */
	uint32_t granted; /* result: within the budgets */
};

/*
 * Shares the budgets: in turns, one lease for each of @wants that still wants one and whose user
 * and total have room. No user gets more than an equal share of the total. @users has @n_users
 * zeroed entries and receives what each was granted.
 */
void wv_plan(struct wv_want *wants, unsigned int n, struct wv_use *users, unsigned int n_users,
	     const struct wv_limits *limits);
