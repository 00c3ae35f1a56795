/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/plan.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"

#include <string.h>

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

static uint32_t wanted(const struct wv_planner *p, struct wv_pool *pool)
{
	uint32_t requested = p->requested(p->arg, pool->recipe);
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

static void count(const struct wv_planner *p, unsigned int *n_pools, unsigned int *n_users)
{
	struct wv_user *user;

	*n_pools = *n_users = 0;
	wv_each_user (p->catalog, user) {
		*n_pools += user->n_recipes;
		*n_users += 1;
	}
}

static unsigned int list_wants(const struct wv_planner *p, struct wv_want *wants)
{
	unsigned int n = 0, user_index = 0;
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (p->catalog, user) {
		wv_each_recipe (user, recipe)
			if (recipe->pool)
				wants[n++] = (struct wv_want){
				    .cost = &recipe->cost,
				    .user = user_index,
				    .target = wanted(p, recipe->pool),
				};
		user_index++;
	}
	return n;
}

static void set_targets(const struct wv_planner *p, const struct wv_want *wants)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (p->catalog, user) {
		wv_each_recipe (user, recipe) {
			struct wv_pool *pool = recipe->pool;

			if (!pool)
				continue;
			pool->target = wants++->granted;
			if (pool->n_ready >= pool->target)
				wv_demand_full(&pool->demand);
		}
	}
}

void wv_plan_pools(struct wv_planner *p)
{
	wv_auto_free struct wv_want *wants = NULL;
	wv_auto_free struct wv_use *users = NULL;
	unsigned int n_pools, n_users;

	count(p, &n_pools, &n_users);
	wants = calloc(n_pools + 1, sizeof(*wants));
	users = calloc(n_users + 1, sizeof(*users));
	if (!wants || !users)
		return;
	wv_plan(wants, list_wants(p, wants), users, n_users, &p->limits);
	set_targets(p, wants);
}

static void add_use(struct wv_use *use, const struct wv_cost *cost, uint32_t n)
{
	use->leases += n;
	use->fds += n * cost->fds;
	use->bytes += n * cost->bytes;
}

struct wv_use wv_use_of(const struct wv_planner *p, const struct wv_user *only)
{
	struct wv_use use = {0};
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (p->catalog, user) {
		if (only && user != only)
			continue;
		wv_each_recipe (user, recipe)
			if (recipe->pool)
				add_use(&use, &recipe->cost, recipe->pool->n_ready);
	}
	/* Cancelled jobs count too: their objects exist until the builder has stopped. */
	wv_each_job (p->builders, job)
		if (!only || job->uid == only->uid)
			add_use(&use, &job->cost, 1);
	return use;
}
