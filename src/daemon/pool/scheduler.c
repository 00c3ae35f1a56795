/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/scheduler.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/build_results.h"
#include "daemon/pool/pool.h"

#include <errno.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)
/* In refill delays: how long work is put off at most while requests never pause. */
#define MOST_POSTPONED 10

/* sd-event's default is longer than the refill delay. */
#define ACCURACY_US 1000

#define LOOK_AGAIN_US (30 * SECOND_US)

static int64_t delay_us(const struct wv_scheduler *s)
{
	return s->planner->config->refill_delay * INT64_C(1000);
}

/*
 * Whether a lease may be started for @recipe. After a failure one builder alone tries again, not
 * all of them.
 */
static bool may_start(const struct wv_scheduler *s, const struct wv_recipe *recipe)
{
	const struct wv_pool *p = recipe->pool;

	return p && wv_pool_held(p) < p->target && !(p->failures && p->n_building) &&
	       wv_device_of(s->planner, recipe);
}

static bool lacks_more(const struct wv_pool *a, const struct wv_pool *b)
{
	return (uint64_t)wv_pool_held(a) * b->target < (uint64_t)wv_pool_held(b) * a->target;
}

/*
 * The pool that lacks most, relative to its target; the first of equals. Targets are within the
 * budgets, but the leases that exist may not be: surplus leases and cancelled jobs still count.
 */
static struct wv_pool *neediest(struct wv_scheduler *s)
{
	struct wv_use total = wv_use_of(s->planner, NULL);
	struct wv_pool *best = NULL;
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s->planner->catalog, user) {
		struct wv_use use = wv_use_of(s->planner, user);

		wv_each_recipe (user, recipe) {
			if (!may_start(s, recipe) ||
			    !wv_has_room(&total, &s->planner->limits.total, &recipe->cost) ||
			    !wv_has_room(&use, &s->planner->limits.user, &recipe->cost))
				continue;
			if (!best || lacks_more(recipe->pool, best))
				best = recipe->pool;
		}
	}
	return best;
}

/* Starts one more lease if one is needed, it fits the budgets and a builder is idle. */
static bool start_one(struct wv_scheduler *s)
{
	struct wv_job *job = wv_builders_idle(s->builders);
	struct wv_pool *pool = job ? neediest(s) : NULL;
	int err;

	if (!pool)
		return false;
	err = wv_job_give(job, pool, wv_device_of(s->planner, pool->recipe), s->issue);
	if (err)
		wv_build_failed(pool, wv_now(s->event), err, strerror(-err));
	return true;
}

static bool shrink_one(struct wv_scheduler *s)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s->planner->catalog, user) {
		wv_each_recipe (user, recipe) {
			if (!recipe->pool || recipe->pool->n_ready <= recipe->pool->target)
				continue;
			wv_reaper_give(s->reaper, wv_pool_take(recipe->pool));
			return true;
		}
	}
	return false;
}

static bool is_quiet(struct wv_scheduler *s)
{
	int64_t now = wv_now(s->event);

	return now - s->request_us >= delay_us(s) ||
	       (s->behind_us && now - s->behind_us >= MOST_POSTPONED * delay_us(s));
}

static bool is_on(sd_event_source *source)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(source, &enabled);
	return enabled != SD_EVENT_OFF;
}

/*
 * All is done for now: sleeps until a builder is done, a pool decays, or a failed attempt may be
 * repeated.
 */
static void rest(struct wv_scheduler *s)
{
	int64_t now = wv_now(s->event), due = now + LOOK_AGAIN_US;
	struct wv_user *user;
	struct wv_recipe *recipe;

	if (!wv_builders_busy(s->builders))
		s->behind_us = 0;
	sd_event_source_set_enabled(s->work_source, SD_EVENT_OFF);
	if (due > now + wv_idle_us(s->planner))
		due = now + wv_idle_us(s->planner);
	wv_each_user (s->planner->catalog, user)
		wv_each_recipe (user, recipe)
			if (recipe->pool && recipe->pool->retry_us > now &&
			    recipe->pool->retry_us < due && wv_device_of(s->planner, recipe))
				due = recipe->pool->retry_us;
	if (!LIST_EMPTY(&s->planner->catalog->users))
		wv_timer_arm(s->timer, due);
}

static int on_idle(sd_event_source *source, void *data)
{
	struct wv_scheduler *s = data;

	if (!is_quiet(s)) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		wv_timer_arm(s->timer, s->request_us + delay_us(s));
		return 0;
	}
	wv_plan_pools(s->planner);
	if (!shrink_one(s) && !start_one(s) && !wv_save_one(s->saver))
		rest(s);
	return 0;
}

void wv_scheduler_go_on(struct wv_scheduler *s)
{
	sd_event_source_set_enabled(s->work_source, SD_EVENT_ON);
}

static int on_timer(sd_event_source *source, uint64_t now, void *data)
{
	(void)source;
	(void)now;
	wv_scheduler_go_on(data);
	return 0;
}

void wv_scheduler_poke(struct wv_scheduler *s)
{
	uint64_t due = UINT64_MAX;
	int64_t now = wv_now(s->event);

	s->request_us = now;
	if (!s->behind_us)
		s->behind_us = now;
	if (is_on(s->work_source))
		return;
	if (is_on(s->timer))
		sd_event_source_get_time(s->timer, &due);
	if ((int64_t)due < 0 || (int64_t)due > now + delay_us(s))
		wv_timer_arm(s->timer, now + delay_us(s));
}

int wv_scheduler_adopt(struct wv_scheduler *s, struct wv_recipe *recipe)
{
	struct wv_user *user = wv_catalog_user(s->planner->catalog, recipe->uid, false);
	uint64_t now = wv_wall_clock();
	int64_t ago = now > recipe->used ? (int64_t)(now - recipe->used) : 0;

	recipe->pool = wv_pool_new(recipe, user->tenant, wv_now(s->event) - ago * SECOND_US);
	return recipe->pool ? 0 : -ENOMEM;
}

static void empty(struct wv_scheduler *s, struct wv_pool *pool)
{
	while (pool->n_ready)
		wv_reaper_give(s->reaper, wv_pool_take(pool));
}

void wv_scheduler_drop_device(struct wv_scheduler *s, const char *ibdev)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s->planner->catalog, user)
		wv_each_recipe (user, recipe)
			if (recipe->pool && !strcmp(recipe->key.ibdev, ibdev))
				empty(s, recipe->pool);
	wv_each_job (s->builders, job)
		if (!strcmp(job->device.ibdev, ibdev))
			wv_job_cancel(job);
}

void wv_scheduler_drop_recipe(struct wv_scheduler *s, struct wv_recipe *recipe)
{
	if (!recipe->pool)
		return;
	wv_each_job (s->builders, job)
		if (job->pool == recipe->pool) {
			wv_job_cancel(job);
			job->pool = NULL;
		}
	empty(s, recipe->pool);
	wv_pool_free(recipe->pool);
	recipe->pool = NULL;
}

void wv_scheduler_retry(struct wv_scheduler *s)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s->planner->catalog, user) {
		wv_each_recipe (user, recipe) {
			recipe->unfit = false;
			if (recipe->pool)
				wv_pool_forgive(recipe->pool);
		}
	}
	wv_scheduler_poke(s);
}

int wv_scheduler_start(struct wv_scheduler *s)
{
	int err = wv_timer_add(s->event, WV_PRIORITY_TIMERS, ACCURACY_US, on_timer, s, &s->timer);

	if (!err)
		err = sd_event_add_defer(s->event, &s->work_source, on_idle, s);
	if (err < 0)
		return err;
	sd_event_source_set_priority(s->work_source, WV_PRIORITY_WORK);
	sd_event_source_set_enabled(s->work_source, SD_EVENT_OFF);
	s->request_us = wv_now(s->event) - delay_us(s);
	return 0;
}

void wv_scheduler_stop(struct wv_scheduler *s)
{
	s->timer = sd_event_source_disable_unref(s->timer);
	s->work_source = sd_event_source_disable_unref(s->work_source);
}
