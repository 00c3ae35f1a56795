/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/build.h"

#include "base/backoff.h"
#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIRST_RETRY_US	   100000
#define LAST_RETRY_US	   60000000
#define MAX_CONTRADICTIONS 4

void wv_build_failed(struct wv_pool *pool, int64_t now_us, int err, const char *why)
{
	struct wv_recipe *recipe = pool->recipe;

	snprintf(pool->error, sizeof(pool->error), "%s", why);
	pool->failures++;
	pool->n_failed++;
	pool->retry_us =
	    now_us + (int64_t)wv_backoff(FIRST_RETRY_US, LAST_RETRY_US, pool->failures);
	wv_log(pool->failures == 1 ? WV_NOTICE : WV_DEBUG,
	       "%s of user %u, recipe %016llx: no lease could be made: %s", recipe->comm,
	       recipe->uid, (unsigned long long)recipe->id, pool->error);
	if (err != -EPROTO || ++pool->contradictions < MAX_CONTRADICTIONS)
		return;
	wv_catalog_unfit(recipe);
	wv_log(WV_WARNING,
	       "%s of user %u, recipe %016llx: no longer prepared, since %s; it is tried again "
	       "when the program records again or the device comes back",
	       recipe->comm, recipe->uid, (unsigned long long)recipe->id, pool->error);
}

/*
 * Builders that failed at the same time count as one failure: what counts is that attempts fail one
 * after another.
 */
static bool counts(const struct wv_job *job)
{
	return job->failed_before == job->pool->n_failed;
}

/* The device that the lease was made on is still the one that programs open. */
static bool is_current(const struct wv_builders *b, const struct wv_job *job)
{
	const struct wv_device *device = wv_device_of(b->planner, job->pool->recipe);

	return device && device->rdev == job->device.rdev;
}

/* @lease, the result, is NULL if there was an error. False: nobody wants it any more. */
static bool take_result(struct wv_builders *b, struct wv_job *job, struct wv_pooled_lease *lease)
{
	struct wv_pool *pool = job->pool;

	if (!pool || atomic_load(&job->cancelled) || !is_current(b, job))
		return false;
	if (!lease) {
		if (counts(job))
			wv_build_failed(pool, wv_now(b->event), job->err, job->why);
		return true;
	}
	wv_constants_learn(b->constants, lease->rdev, pool->tenant, lease->cmdlog);
	wv_pool_add(pool, lease, job->build_us);
	pool->failures = pool->contradictions = 0;
	return true;
}

static void carry_out(struct wv_work *work)
{
	struct wv_job *job = (struct wv_job *)work;
	const struct wv_issuer issuer = {.issue = job->issue, .cancelled = &job->cancelled};
	int64_t start = wv_steady_clock();

	job->err = wv_pooled_lease_make(job->recipe, &job->device, &issuer, &job->lease, job->why);
	job->build_us = (uint32_t)(wv_steady_clock() - start);
}

/* Makes a job that is done idle again. */
static void clear(struct wv_job *job)
{
	if (job->pool)
		job->pool->n_building--;
	job->tenant->supply->builds.used_us += (int64_t)job->build_us - job->expected_us;
	job->tenant->supply->n_builds--;
	wv_tenant_put(job->tenant);
	free(job->recipe);
	job->recipe = NULL;
	job->pool = NULL;
}

/* What the tenant holds by the job is held by the lease from now on, if there is one. */
static void done(struct wv_work *work)
{
	struct wv_job *job = (struct wv_job *)work;
	struct wv_pooled_lease *lease = job->lease;

	job->lease = NULL;
	if (lease) {
		lease->tenant = job->tenant;
		lease->cost = job->cost;
	} else {
		wv_tenant_release(job->tenant, &job->cost);
	}
	if (!take_result(job->builders, job, lease) && lease)
		wv_builders_close(job->builders, lease);
	clear(job);
}

int wv_builders_start(struct wv_builders *b)
{
	const struct wv_line_options options = {
	    .own = WV_BUILDERS,
	    .most = WV_BUILDERS,
	    .priority = WV_PRIORITY_RESULTS,
	    .settled = b->settled,
	    .arg = b->arg,
	};
	int err = wv_line_open(b->workers, &options, &b->making);

	return err ? err : wv_line_open(b->workers, &options, &b->closing);
}

void wv_builders_stop(struct wv_builders *b)
{
	wv_each_job (b, job)
		wv_job_cancel(job);
	wv_line_close(&b->making, INT64_MAX);
	wv_line_close(&b->closing, INT64_MAX);
}

struct wv_job *wv_builders_idle(struct wv_builders *b)
{
	for (unsigned int i = 0; i < WV_BUILDERS; i++)
		if (!b->jobs[i].recipe)
			return &b->jobs[i];
	return NULL;
}

unsigned int wv_builders_busy(struct wv_builders *b)
{
	unsigned int n = 0;

	wv_each_job (b, job)
		n++;
	return n;
}

int wv_job_give(struct wv_builders *b, struct wv_job *job, struct wv_pool *pool,
		const struct wv_device *device, wv_issue_fn issue, uint32_t expected_us)
{
	struct wv_cmdlog *copy = malloc(pool->recipe->cmdlog->bytes);

	if (!copy)
		return -ENOMEM;
	job->work = (struct wv_work){.run = carry_out, .done = done};
	job->builders = b;
	job->recipe = memcpy(copy, pool->recipe->cmdlog, pool->recipe->cmdlog->bytes);
	job->device = *device;
	job->issue = issue;
	atomic_store(&job->cancelled, false);
	job->pool = pool;
	job->tenant = wv_tenant_keep(pool->tenant);
	job->tenant->supply->n_builds++;
	job->cost = pool->recipe->cost;
	wv_tenant_hold(job->tenant, &job->cost);
	job->failed_before = pool->n_failed;
	job->expected_us = expected_us;
	pool->n_building++;
	wv_line_give(b->making, &job->work);
	return 0;
}

void wv_job_cancel(struct wv_job *job)
{
	atomic_store(&job->cancelled, true);
}

static struct wv_pooled_lease *lease_of(struct wv_work *work)
{
	return WV_OWNER(work, struct wv_pooled_lease, end);
}

static void end(struct wv_work *work)
{
	wv_fds_close(&lease_of(work)->fds);
}

static void ended(struct wv_work *work)
{
	wv_pooled_lease_free(lease_of(work));
}

void wv_builders_close(struct wv_builders *b, struct wv_pooled_lease *lease)
{
	lease->end = (struct wv_work){.run = end, .done = ended};
	wv_line_give(b->closing, &lease->end);
}
