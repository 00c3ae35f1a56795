/*
 * What becomes of the leases that builders made.
 */
#include "base/base.h"
#include "daemon/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND_US	   INT64_C(1000000)
#define FIRST_RETRY_US	   (SECOND_US / 10)
#define LAST_RETRY_US	   (60 * SECOND_US)
#define MAX_CONTRADICTIONS 4

void wv_note_failure(struct wv_server *s, struct wv_pool *pool, int err, const char *why)
{
	struct wv_recipe *recipe = pool->recipe;
	int64_t wait = FIRST_RETRY_US << (pool->failures < 16 ? pool->failures : 16);

	snprintf(pool->error, sizeof(pool->error), "%s", why);
	pool->failures++;
	pool->n_failed++;
	pool->retry_us = wv_now(s) + (wait < LAST_RETRY_US ? wait : LAST_RETRY_US);
	wv_log(pool->failures == 1 ? WV_NOTICE : WV_DEBUG,
	       "%s of user %u, recipe %016llx: no lease could be made: %s", recipe->comm,
	       recipe->uid, (unsigned long long)recipe->id, pool->error);
	if (err != -EPROTO || ++pool->contradictions < MAX_CONTRADICTIONS)
		return;
	wv_catalog_unfit(recipe);
	wv_log(WV_WARNING,
	       "%s of user %u, recipe %016llx: not prepared any more, since %s; it is tried again "
	       "when the program records anew or the device comes back",
	       recipe->comm, recipe->uid, (unsigned long long)recipe->id, pool->error);
}

/* Builders that failed side by side failed once: what counts is that it fails time after time. */
static bool counts(const struct wv_job *job)
{
	return job->failed_before == job->pool->n_failed;
}

/* The device that the lease was made on is still the one that programs open. */
static bool is_current(struct wv_server *s, const struct wv_job *job)
{
	const struct wv_device *device = wv_device_of(s, job->pool->recipe);

	return device && device->rdev == job->device.rdev;
}

/* What is not taken here ends. */
static void take_result(struct wv_server *s, struct wv_job *job)
{
	struct wv_pool *pool = job->pool;

	if (!pool || atomic_load(&job->cancelled) || !is_current(s, job))
		return;
	if (job->err) {
		if (counts(job))
			wv_note_failure(s, pool, job->err, job->why);
		return;
	}
	wv_constants_learn(&s->constants, job->ready->rdev, job->ready->cmdlog);
	wv_pool_add(pool, job->ready, job->build_us);
	job->ready = NULL;
	pool->failures = pool->contradictions = 0;
}

static int on_results(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_server *s = data;
	struct wv_job *job;

	(void)source;
	(void)fd;
	(void)events;
	while ((job = wv_builders_done(&s->builders))) {
		take_result(s, job);
		if (job->ready)
			wv_reaper_give(&s->ender, job->ready);
		job->ready = NULL;
		wv_job_clear(job);
	}
	wv_scheduler_go_on(s);
	return 0;
}

int wv_build_results_start(struct wv_server *s)
{
	int err = wv_builders_start(&s->builders);

	if (!err)
		err = wv_reaper_start(&s->ender);
	if (err) {
		wv_log(WV_ERROR,
		       "%u threads cannot be started: %s: raise TasksMax= or the limit on "
		       "processes",
		       WV_BUILDERS + 1, strerror(-err));
		return err;
	}
	err = sd_event_add_io(s->event, &s->results_source, s->builders.done_fd, EPOLLIN,
			      on_results, s);
	return err < 0 ? err : sd_event_source_set_priority(s->results_source, WV_PRIORITY_RESULTS);
}

void wv_build_results_stop(struct wv_server *s)
{
	s->results_source = sd_event_source_disable_unref(s->results_source);
	wv_builders_stop(&s->builders);
}
