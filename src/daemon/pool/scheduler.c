/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/scheduler.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"

#include <errno.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)
/* In refill delays: how long work is put off at most while requests never pause. */
#define MOST_POSTPONED 10

/* sd-event's default is longer than the refill delay. */
#define ACCURACY_US 1000

#define LOOK_AGAIN_US (30 * SECOND_US)

/* While clients never pause, there is one step of work in this time. */
#define STEP_US 1000

static int64_t delay_us(const struct wv_scheduler *s)
{
	return s->planner->config->refill_delay * INT64_C(1000);
}

/*
 * From when on work may be done, if the last request was at @asked_us and leases have been missing
 * since @behind_us.
 */
static int64_t quiet_from(const struct wv_scheduler *s, int64_t asked_us, int64_t behind_us)
{
	int64_t paused = asked_us + delay_us(s);
	int64_t overdue = behind_us + MOST_POSTPONED * delay_us(s);

	return behind_us && overdue < paused ? overdue : paused;
}

/* Only a tenant's own requests put off what is done for it. */
static int64_t quiet_for(const struct wv_scheduler *s, const struct wv_supply *supply)
{
	return quiet_from(s, supply->asked_us, supply->behind_us);
}

static bool is_quiet(const struct wv_scheduler *s, const struct wv_pool *pool)
{
	return wv_now(s->event) >= quiet_for(s, pool->tenant->supply);
}

static bool lacks_leases(const struct wv_scheduler *s, const struct wv_recipe *recipe)
{
	const struct wv_pool *p = recipe->pool;

	return p && wv_pool_held(p) < p->target && wv_device_of(s->planner, recipe);
}

/*
 * Whether a lease may be started for @recipe now. After a failure one builder alone tries again,
 * not all of them. Targets are within the budgets, but the leases that exist may not be: surplus
 * leases, cancelled jobs and leases that are being closed still count. The last idle builder is
 * kept for a tenant that has none, so that nobody waits for the leases of another to be made.
 */
static bool may_start(const struct wv_scheduler *s, const struct wv_recipe *recipe)
{
	const struct wv_limits *limits = &s->planner->limits;
	const struct wv_pool *p = recipe->pool;
	bool last = wv_builders_busy(s->builders) == WV_BUILDERS - 1;

	return lacks_leases(s, recipe) && is_quiet(s, p) && !(p->failures && p->n_building) &&
	       !(last && p->tenant->supply->n_builds) &&
	       wv_has_room(&s->planner->tenants->held, &limits->total, &recipe->cost) &&
	       wv_has_room(&p->tenant->held, &limits->user, &recipe->cost);
}

static bool lacks_more(const struct wv_pool *a, const struct wv_pool *b)
{
	return (uint64_t)wv_pool_held(a) * b->target < (uint64_t)wv_pool_held(b) * a->target;
}

/*
 * Of tenants, the one that used least time of builders; of its pools, the one that lacks most; of
 * those, the one that is due first.
 */
static bool comes_before(const struct wv_pool *a, const struct wv_pool *b)
{
	uint64_t claims = a->tenant->supply->claims;

	if (a->tenant != b->tenant)
		return wv_share_before(&a->tenant->supply->builds, &b->tenant->supply->builds);
	if (lacks_more(a, b) || lacks_more(b, a))
		return lacks_more(a, b);
	return wv_demand_due(&a->demand, claims) < wv_demand_due(&b->demand, claims);
}

static struct wv_pool *neediest(struct wv_scheduler *s)
{
	struct wv_pool *best = NULL;

	wv_each_recipe_of_all (s->planner->catalog, recipe) {
		if (!may_start(s, recipe))
			continue;
		wv_share_join(&recipe->pool->tenant->supply->builds, &s->builds);
		if (!best || comes_before(recipe->pool, best))
			best = recipe->pool;
	}
	return best;
}

/* Starts one more lease if one is needed, it fits the budgets and a builder is idle. */
static bool start_one(struct wv_scheduler *s)
{
	struct wv_job *job = wv_builders_idle(s->builders);
	struct wv_pool *pool = job ? neediest(s) : NULL;
	uint32_t expected_us = pool ? wv_pool_median_us(pool) : 0;
	int err;

	if (!pool)
		return false;
	wv_share_charge(&pool->tenant->supply->builds, &s->builds, expected_us);
	err = wv_job_give(s->builders, job, pool, wv_device_of(s->planner, pool->recipe), s->issue,
			  expected_us);
	if (err)
		wv_build_failed(pool, wv_now(s->event), err, strerror(-err));
	return true;
}

static bool shrink_one(struct wv_scheduler *s)
{
	wv_each_recipe_of_all (s->planner->catalog, recipe) {
		struct wv_pool *pool = recipe->pool;

		if (!pool || pool->n_ready <= pool->target || !is_quiet(s, pool))
			continue;
		wv_builders_close(s->builders, wv_pool_take(pool));
		return true;
	}
	return false;
}

/* Saving waits for a pause of all requests. */
static int64_t saving_from(const struct wv_scheduler *s)
{
	return quiet_from(s, s->request_us, s->behind_us);
}

static bool save_one(struct wv_scheduler *s)
{
	return wv_now(s->event) >= saving_from(s) && wv_save_one(s->saver);
}

/* Notes which tenants lack leases. */
static void note_who_lacks(struct wv_scheduler *s)
{
	struct wv_supply *supply;
	struct wv_user *user;

	wv_each_user (s->planner->catalog, user) {
		supply = user->tenant->supply;
		if (supply)
			supply->lacks = supply->n_builds;
	}
	wv_each_recipe_of_all (s->planner->catalog, recipe)
		if (lacks_leases(s, recipe))
			recipe->pool->tenant->supply->lacks = true;
	wv_each_user (s->planner->catalog, user) {
		supply = user->tenant->supply;
		if (supply && !supply->lacks)
			supply->behind_us = 0;
	}
}

static void at_most(int64_t *due, int64_t other)
{
	if (other < *due)
		*due = other;
}

/* When something is to be done for @user. */
static int64_t due_for(const struct wv_scheduler *s, struct wv_user *user)
{
	int64_t now = wv_now(s->event), due = INT64_MAX;
	struct wv_recipe *recipe;

	wv_each_recipe (user, recipe) {
		const struct wv_pool *p = recipe->pool;
		int64_t quiet = p ? quiet_for(s, p->tenant->supply) : now;
		bool waits = p && quiet > now && wv_pool_held(p) != p->target;

		if (!p || (p->retry_us <= now && !waits) || !wv_device_of(s->planner, recipe))
			continue;
		if (p->retry_us > now)
			at_most(&due, p->retry_us);
		if (waits)
			at_most(&due, quiet);
	}
	return due;
}

/*
 * All is done for now: sleeps until a thread has a result, a tenant's requests pause, a pool
 * decays, or a failed attempt may be repeated.
 */
static void rest(struct wv_scheduler *s)
{
	int64_t now = wv_now(s->event), due = now + LOOK_AGAIN_US;
	struct wv_user *user;

	note_who_lacks(s);
	if (!wv_builders_busy(s->builders))
		s->behind_us = 0;
	sd_event_source_set_enabled(s->work_source, SD_EVENT_OFF);
	at_most(&due, now + wv_idle_us(s->planner));
	if (s->planner->changed)
		at_most(&due, s->planner->next_us);
	if (saving_from(s) > now)
		at_most(&due, saving_from(s));
	wv_each_user (s->planner->catalog, user)
		at_most(&due, due_for(s, user));
	wv_timer_arm(s->timer, due);
}

/* At most one thing of each kind, so that clients do not wait long. */
static void step(struct wv_scheduler *s)
{
	bool busy;

	wv_plan_pools(s->planner);
	busy = shrink_one(s);
	busy |= start_one(s);
	busy |= save_one(s);
	if (!busy)
		rest(s);
}

static int on_idle(sd_event_source *source, void *data)
{
	(void)source;
	step(data);
	return 0;
}

/* The timer comes before clients, so that work goes on, slowly, where they never pause. */
static int on_timer(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_scheduler *s = data;

	(void)source;
	(void)now;
	s->planner->changed = true;
	wv_timer_arm(s->timer, wv_now(s->event) + STEP_US);
	sd_event_source_set_enabled(s->work_source, SD_EVENT_ON);
	step(s);
	return 0;
}

static void look_by(struct wv_scheduler *s, int64_t due_us)
{
	uint64_t due = UINT64_MAX;

	if (sd_event_source_get_enabled(s->timer, NULL) > 0)
		sd_event_source_get_time(s->timer, &due);
	if (due > (uint64_t)due_us)
		wv_timer_arm(s->timer, due_us);
}

void wv_scheduler_go_on(struct wv_scheduler *s)
{
	s->planner->changed = true;
	look_by(s, wv_now(s->event) + STEP_US);
	sd_event_source_set_enabled(s->work_source, SD_EVENT_ON);
}

void wv_scheduler_poke(struct wv_scheduler *s, struct wv_tenant *tenant)
{
	struct wv_supply *supply = tenant ? tenant->supply : NULL;
	int64_t now = wv_now(s->event);

	s->planner->changed = true;
	s->request_us = now;
	if (!s->behind_us)
		s->behind_us = now;
	if (supply) {
		supply->asked_us = now;
		if (!supply->behind_us)
			supply->behind_us = now;
	}
	look_by(s, now + delay_us(s));
}

int wv_scheduler_adopt(struct wv_scheduler *s, struct wv_recipe *recipe)
{
	struct wv_user *user = wv_catalog_user(s->planner->catalog, recipe->uid, false);
	uint64_t now = wv_wall_clock();
	int64_t ago = now > recipe->used ? (int64_t)(now - recipe->used) : 0;

	recipe->pool = wv_pool_new(recipe, user->tenant, wv_now(s->event) - ago * SECOND_US);
	if (!recipe->pool)
		return -ENOMEM;
	if (!user->tenant->supply->asked_us)
		user->tenant->supply->asked_us = wv_now(s->event);
	return 0;
}

static void empty(struct wv_scheduler *s, struct wv_pool *pool)
{
	while (pool->n_ready)
		wv_builders_close(s->builders, wv_pool_take(pool));
}

void wv_scheduler_drop_device(struct wv_scheduler *s, const char *ibdev)
{
	wv_each_recipe_of_all (s->planner->catalog, recipe)
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
	s->planner->changed = true;
	free(recipe->pool);
	recipe->pool = NULL;
}

void wv_scheduler_retry(struct wv_scheduler *s)
{
	wv_each_recipe_of_all (s->planner->catalog, recipe) {
		recipe->unfit = false;
		if (recipe->pool)
			wv_pool_forgive(recipe->pool);
	}
	wv_scheduler_poke(s, NULL);
}

int wv_scheduler_start(struct wv_scheduler *s)
{
	int err = wv_timer_add(s->event, WV_PRIORITY_OVERDUE, ACCURACY_US, on_timer, s, &s->timer);

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
