/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool of one recipe: the leases that wait, and how making them has gone.
 */
#pragma once

#include "daemon/pool/policy.h"
#include "daemon/pool/pooled_lease.h"
#include "daemon/tenants/tenant.h"
#include "store/recipe.h"

#define WV_BUILD_TIMES 15

/* What the pools of a tenant have used of the builders, and when they are worked on. */
struct wv_supply {
	struct wv_share builds; /* time of builders */
	unsigned int n_builds;	/* builders at work */
	struct wv_use planned;	/* in the plan */
	uint64_t claims;	/* of leases, so far */
	int64_t asked_us;	/* time of the tenant's last request */
	int64_t behind_us;	/* since when leases are missing; 0: none are */
	bool lacks;		/* the scheduler's: leases are missing now */
};

struct wv_pool {
	struct wv_recipe *recipe;
	struct wv_tenant *tenant; /* of the recipe's user, who outlives the pool */
	SLIST_HEAD(, wv_pooled_lease) leases;
	uint32_t n_ready, target; /* leases that wait, and how many should */
	uint32_t n_building;
	struct wv_demand demand;
	unsigned int failures;	     /* failed attempts in a row */
	unsigned int contradictions; /* those of them in which the kernel contradicted the recipe */
	unsigned int n_failed;	     /* failed attempts since the pool exists */
	int64_t retry_us;	     /* no attempt before this time of the loop's clock */
	char error[WV_WHY_BYTES];    /* of the last failure; empty: none */
	uint32_t build_us[WV_BUILD_TIMES]; /* of the last leases, in a ring */
	uint32_t n_built;
};

/*
 * A new, empty pool for @recipe of @tenant, which was last used at @last_us of the loop's clock.
 * The caller's, who frees it once it is empty; the tenant has its supply from then on. NULL if
 * memory is short.
 */
struct wv_pool *wv_pool_new(struct wv_recipe *recipe, struct wv_tenant *tenant, int64_t last_us);

/* How many leases wait or are being made. */
static inline uint32_t wv_pool_held(const struct wv_pool *pool)
{
	return pool->n_ready + pool->n_building;
}

/* Adds a new lease, which becomes the pool's; making it took @build_us. */
void wv_pool_add(struct wv_pool *pool, struct wv_pooled_lease *lease, uint32_t build_us);

/* Takes a lease out, which is then the caller's; NULL if the pool is empty. */
struct wv_pooled_lease *wv_pool_take(struct wv_pool *pool);

/* Gives an unused lease back to the pool. */
void wv_pool_put(struct wv_pool *pool, struct wv_pooled_lease *lease);

/* Notes a claim of a program that asked at @asked_us, see wv_demand_claim(). */
void wv_pool_claim(struct wv_pool *pool, int64_t now_us, int64_t asked_us, int64_t idle_us);

/* Forgets past failures, so that the next attempt may begin at once. */
void wv_pool_forgive(struct wv_pool *pool);

/* The median time that the last leases took to make, in microseconds; 0 if there was none. */
uint32_t wv_pool_median_us(const struct wv_pool *pool);

/* The time that the last lease took to make, in microseconds; 0 if there was none. */
uint32_t wv_pool_last_us(const struct wv_pool *pool);
