/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/build_results.h"

#include "base/backoff.h"
#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"

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
static bool is_current(const struct wv_build_results *r, const struct wv_job *job)
{
	const struct wv_device *device = wv_device_of(r->planner, job->pool->recipe);

	return device && device->rdev == job->device.rdev;
}

/* False: nobody wants @lease, the result, any more. */
static bool take_result(struct wv_build_results *r, struct wv_job *job,
			struct wv_pooled_lease *lease)
{
	struct wv_pool *pool = job->pool;

	if (!pool || atomic_load(&job->cancelled) || !is_current(r, job))
		return false;
	if (job->err) {
		if (counts(job))
			wv_build_failed(pool, wv_now(r->event), job->err, job->why);
		return true;
	}
	wv_constants_learn(r->constants, lease->rdev, pool->tenant, lease->cmdlog);
	wv_pool_add(pool, lease, job->build_us);
	pool->failures = pool->contradictions = 0;
	return true;
}

void wv_build_result(void *results, struct wv_job *job)
{
	struct wv_build_results *r = results;
	struct wv_pooled_lease *lease = wv_job_take(job);

	if (!take_result(r, job, lease) && lease)
		wv_reaper_give(r->reaper, lease);
}
