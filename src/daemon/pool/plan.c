/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/plan.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"

#include <string.h>
#include <time.h>

/* Planning takes at most one part in so many of the loop's time. */
#define PART 10
/* Where nothing was planned for so long, plans may follow each other. */
#define BURST_US 100000
/* In how many parts of its period a recipe may be used earlier or later than expected. */
#define UNSURE 8
/* Building and closing take time from everybody: so long after its use, a pool is not emptied. */
#define STAYS_US 60000000

int64_t wv_idle_us(const struct wv_planner *p)
{
	return p->config->idle_time * INT64_C(1000000);
}

const struct wv_device *wv_device_of(const struct wv_planner *p, const struct wv_recipe *recipe)
{
	const struct wv_device *device;

	if (recipe->refused || recipe->unfit || strcmp(recipe->key.kernel, p->kernel))
		return NULL;
	device = wv_devices_by_ibdev(p->devices, recipe->key.ibdev);
	return device && device->leasable && device->driver_id == recipe->key.driver_id ? device
											: NULL;
}

static uint32_t wanted(const struct wv_planner *p, struct wv_pool *pool, uint32_t requested)
{
	uint32_t target;

	if (!wv_device_of(p, pool->recipe))
		return 0;
	target = wv_demand_target(&pool->demand, wv_now(p->event), wv_idle_us(p));
	if (target < requested)
		target = requested;
	/* A failed attempt is not repeated before its time. */
	if (pool->retry_us > wv_now(p->event) && target > wv_pool_held(pool))
		target = wv_pool_held(pool);
	return target;
}

static struct wv_want want_of(const struct wv_planner *p, struct wv_pool *pool)
{
	uint32_t requested = p->requested(p->arg, pool->recipe);

	return (struct wv_want){
	    .pool = pool,
	    .due = requested ? 0 : wv_demand_due(&pool->demand, pool->tenant->supply->claims),
	    .unsure = (int64_t)(pool->demand.period / UNSURE),
	    .stays = wv_now(p->event) - pool->demand.last_us < STAYS_US,
	    .cost = &pool->recipe->cost,
	    .planned = &pool->tenant->supply->planned,
	    .target = wanted(p, pool, requested),
	    .held = wv_pool_held(pool),
	};
}

/* What is due first comes first. */
static unsigned int list_wants(const struct wv_planner *p, struct wv_want *wants)
{
	unsigned int n = 0;

	wv_each_recipe_of_all (p->catalog, recipe)
		if (recipe->pool)
			wants[n++] = want_of(p, recipe->pool);
	wv_wants_sort(wants, n);
	return n;
}

static void set_targets(const struct wv_want *wants, unsigned int n, int64_t now_us)
{
	for (const struct wv_want *w = wants; w < wants + n; w++) {
		w->pool->target = w->granted;
		if (w->pool->n_ready >= w->pool->target)
			wv_demand_full(&w->pool->demand, now_us);
	}
}

static void plan(struct wv_planner *p)
{
	wv_auto_free struct wv_want *wants = calloc(p->catalog->all.n + 1, sizeof(*wants));
	unsigned int n;

	if (!wants)
		return;
	n = list_wants(p, wants);
	wv_plan(wants, n, &p->limits);
	set_targets(wants, n, wv_now(p->event));
}

void wv_plan_pools(struct wv_planner *p)
{
	int64_t now = wv_now(p->event), start;

	if (!p->changed || now < p->next_us)
		return;
	p->changed = false;
	start = wv_cpu_clock();
	plan(p);
	if (p->next_us < now - BURST_US)
		p->next_us = now - BURST_US;
	p->next_us += PART * (wv_cpu_clock() - start);
}
