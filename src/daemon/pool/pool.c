/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/pool.h"

#include "base/base.h"

#include <string.h>

struct wv_pool *wv_pool_new(struct wv_recipe *recipe, struct wv_tenant *tenant, int64_t last_us)
{
	struct wv_pool *pool;

	if (!tenant->supply)
		tenant->supply = calloc(1, sizeof(*tenant->supply));
	pool = tenant->supply ? calloc(1, sizeof(*pool)) : NULL;
	if (!pool)
		return NULL;
	pool->recipe = recipe;
	pool->tenant = tenant;
	SLIST_INIT(&pool->leases);
	wv_demand_init(&pool->demand, last_us);
	return pool;
}

void wv_pool_add(struct wv_pool *pool, struct wv_pooled_lease *lease, uint32_t build_us)
{
	pool->build_us[pool->n_built++ % WV_BUILD_TIMES] = build_us;
	*pool->error = '\0';
	wv_pool_put(pool, lease);
}

struct wv_pooled_lease *wv_pool_take(struct wv_pool *pool)
{
	struct wv_pooled_lease *lease = SLIST_FIRST(&pool->leases);

	if (!lease)
		return NULL;
	SLIST_REMOVE_HEAD(&pool->leases, link);
	pool->n_ready--;
	return lease;
}

void wv_pool_put(struct wv_pool *pool, struct wv_pooled_lease *lease)
{
	SLIST_INSERT_HEAD(&pool->leases, lease, link);
	pool->n_ready++;
}

void wv_pool_claim(struct wv_pool *pool, int64_t now_us, int64_t asked_us, int64_t idle_us)
{
	const struct wv_claim claim = {now_us, asked_us, ++pool->tenant->supply->claims};

	wv_demand_claim(&pool->demand, &claim, idle_us);
}

void wv_pool_forgive(struct wv_pool *pool)
{
	pool->retry_us = 0;
	pool->failures = pool->contradictions = 0;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t wv_pool_median_us(const struct wv_pool *pool)
{
	uint32_t sorted[WV_BUILD_TIMES];
	uint32_t n = pool->n_built < WV_BUILD_TIMES ? pool->n_built : WV_BUILD_TIMES;

	if (!n)
		return 0;
	memcpy(sorted, pool->build_us, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), compare);
	return sorted[n / 2];
}

uint32_t wv_pool_last_us(const struct wv_pool *pool)
{
	return pool->n_built ? pool->build_us[(pool->n_built - 1) % WV_BUILD_TIMES] : 0;
}
