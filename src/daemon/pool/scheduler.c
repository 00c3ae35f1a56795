/*
 * Keeping the pools at their size, when nobody is being served: one lease is started or ended, or
 * one file written, per idle turn of the loop.
 */
#include "base/base.h"
#include "daemon/server.h"

#include <errno.h>
#include <string.h>

#define SECOND_US      INT64_C(1000000)
#define MOST_POSTPONED 10   /* times the refill delay, if requests never pause */
#define ACCURACY_US    1000 /* sd-event's default is longer than the refill delay */
#define LOOK_AGAIN_US  (30 * SECOND_US)

static int64_t delay_us(const struct wv_server *s)
{
	return s->config.refill_delay * INT64_C(1000);
}

/*
 * Whether a lease may be started for @recipe. One that failed is tried by one builder alone, not by
 * all of them.
 */
static bool may_start(struct wv_server *s, const struct wv_recipe *recipe)
{
	const struct wv_pool *p = recipe->pool;

	return p && wv_pool_held(p) < p->target && !(p->failures && p->n_building) &&
	       wv_device_of(s, recipe);
}

static bool lacks_more(const struct wv_pool *a, const struct wv_pool *b)
{
	return (uint64_t)wv_pool_held(a) * b->target < (uint64_t)wv_pool_held(b) * a->target;
}

/*
 * The pool that lacks most, for its size; of equals the first. Targets are within the budgets, but
 * what is there may not be yet: leases that are to end, or that nothing will come of.
 */
static struct wv_pool *neediest(struct wv_server *s)
{
	struct wv_use total = wv_use_of(s, NULL);
	struct wv_pool *best = NULL;
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s, user) {
		struct wv_use use = wv_use_of(s, user);

		wv_each_recipe (user, recipe) {
			if (!may_start(s, recipe) ||
			    !wv_has_room(&total, &s->limits.total, &recipe->cost) ||
			    !wv_has_room(&use, &s->limits.user, &recipe->cost))
				continue;
			if (!best || lacks_more(recipe->pool, best))
				best = recipe->pool;
		}
	}
	return best;
}

/* Starts one more lease, if one is needed, fits, and a builder is free. */
static bool start_one(struct wv_server *s)
{
	struct wv_job *job = wv_builders_idle(&s->builders);
	struct wv_pool *pool = job ? neediest(s) : NULL;
	int err;

	if (!pool)
		return false;
	err = wv_job_give(job, pool, wv_device_of(s, pool->recipe), s->issue);
	if (err)
		wv_note_failure(s, pool, err, strerror(-err));
	return true;
}

static bool shrink_one(struct wv_server *s)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s, user) {
		wv_each_recipe (user, recipe) {
			if (!recipe->pool || recipe->pool->n_ready <= recipe->pool->target)
				continue;
			wv_reaper_give(&s->ender, wv_pool_take(recipe->pool));
			return true;
		}
	}
	return false;
}

static bool is_quiet(struct wv_server *s)
{
	int64_t now = wv_now(s);

	return now - s->request_us >= delay_us(s) ||
	       (s->behind_us && now - s->behind_us >= MOST_POSTPONED * delay_us(s));
}

static void arm(struct wv_server *s, int64_t due_us)
{
	sd_event_source_set_time(s->refill_timer, (uint64_t)due_us);
	sd_event_source_set_enabled(s->refill_timer, SD_EVENT_ONESHOT);
}

static bool is_on(sd_event_source *source)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(source, &enabled);
	return enabled != SD_EVENT_OFF;
}

/*
 * All is done for now: sleeps until a builder is done, a pool decays, or something failed can be
 * tried again.
 */
static void rest(struct wv_server *s)
{
	int64_t now = wv_now(s), due = now + LOOK_AGAIN_US;
	struct wv_user *user;
	struct wv_recipe *recipe;

	if (!wv_builders_busy(&s->builders))
		s->behind_us = 0;
	sd_event_source_set_enabled(s->work_source, SD_EVENT_OFF);
	if (due > now + wv_idle_us(s))
		due = now + wv_idle_us(s);
	wv_each_user (s, user)
		wv_each_recipe (user, recipe)
			if (recipe->pool && recipe->pool->retry_us > now &&
			    recipe->pool->retry_us < due && wv_device_of(s, recipe))
				due = recipe->pool->retry_us;
	if (!LIST_EMPTY(&s->catalog.users))
		arm(s, due);
}

static int on_idle(sd_event_source *source, void *data)
{
	struct wv_server *s = data;

	if (!is_quiet(s)) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		arm(s, s->request_us + delay_us(s));
		return 0;
	}
	wv_plan_pools(s);
	if (!shrink_one(s) && !start_one(s) && !wv_save_one(s))
		rest(s);
	return 0;
}

void wv_scheduler_go_on(struct wv_server *s)
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

void wv_scheduler_poke(struct wv_server *s)
{
	uint64_t due = UINT64_MAX;
	int64_t now = wv_now(s);

	s->request_us = now;
	if (!s->behind_us)
		s->behind_us = now;
	if (is_on(s->work_source))
		return;
	if (is_on(s->refill_timer))
		sd_event_source_get_time(s->refill_timer, &due);
	if ((int64_t)due < 0 || (int64_t)due > now + delay_us(s))
		arm(s, now + delay_us(s));
}

int wv_scheduler_adopt(struct wv_server *s, struct wv_recipe *recipe)
{
	uint64_t now = wv_wall_clock();
	int64_t ago = now > recipe->used ? (int64_t)(now - recipe->used) : 0;

	recipe->pool = wv_pool_new(recipe, wv_now(s) - ago * SECOND_US);
	return recipe->pool ? 0 : -ENOMEM;
}

static void empty(struct wv_server *s, struct wv_pool *pool)
{
	while (pool->n_ready)
		wv_reaper_give(&s->ender, wv_pool_take(pool));
}

void wv_scheduler_drop_device(struct wv_server *s, const char *ibdev)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s, user)
		wv_each_recipe (user, recipe)
			if (recipe->pool && !strcmp(recipe->key.ibdev, ibdev))
				empty(s, recipe->pool);
	wv_each_job (&s->builders, job)
		if (!strcmp(job->device.ibdev, ibdev))
			wv_job_cancel(job);
}

void wv_scheduler_drop_recipe(struct wv_server *s, struct wv_recipe *recipe)
{
	if (!recipe->pool)
		return;
	wv_each_job (&s->builders, job)
		if (job->pool == recipe->pool) {
			wv_job_cancel(job);
			job->pool = NULL;
		}
	empty(s, recipe->pool);
	wv_pool_free(recipe->pool);
	recipe->pool = NULL;
}

void wv_scheduler_retry(struct wv_server *s)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s, user) {
		wv_each_recipe (user, recipe) {
			recipe->unfit = false;
			if (!recipe->pool)
				continue;
			recipe->pool->retry_us = 0;
			recipe->pool->failures = recipe->pool->contradictions = 0;
		}
	}
	wv_scheduler_poke(s);
}

int wv_scheduler_start(struct wv_server *s)
{
	int err = sd_event_add_time(s->event, &s->refill_timer, CLOCK_MONOTONIC, 0, ACCURACY_US,
				    on_timer, s);

	if (err >= 0)
		err = sd_event_add_defer(s->event, &s->work_source, on_idle, s);
	if (err < 0)
		return err;
	sd_event_source_set_priority(s->refill_timer, WV_PRIORITY_TIMERS);
	sd_event_source_set_priority(s->work_source, WV_PRIORITY_WORK);
	sd_event_source_set_enabled(s->work_source, SD_EVENT_OFF);
	sd_event_source_set_enabled(s->refill_timer, SD_EVENT_OFF);
	s->request_us = wv_now(s) - delay_us(s);
	return 0;
}

void wv_scheduler_stop(struct wv_server *s)
{
	s->refill_timer = sd_event_source_disable_unref(s->refill_timer);
	s->work_source = sd_event_source_disable_unref(s->work_source);
}
