/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/build.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <string.h>

static void carry_out(struct wv_work *work)
{
	struct wv_job *job = (struct wv_job *)work;
	const struct wv_issuer issuer = {.issue = job->issue, .cancelled = &job->cancelled};
	int64_t start = wv_steady_clock();

	job->err = wv_pooled_lease_make(job->recipe, &job->device, &issuer, &job->lease, job->why,
					sizeof(job->why));
	job->build_us = (uint32_t)(wv_steady_clock() - start);
}

/* Makes a job that is done idle again, and closes a lease that is still in it. */
static void clear(struct wv_job *job)
{
	if (job->pool)
		job->pool->n_building--;
	if (job->lease)
		wv_pooled_lease_free(job->lease);
	if (job->held)
		wv_tenant_release(job->tenant, &job->cost);
	job->tenant->builds.used_us += (int64_t)job->build_us - job->expected_us;
	job->tenant->n_builds--;
	wv_tenant_put(job->tenant);
	free(job->recipe);
	job->recipe = NULL;
	job->lease = NULL;
	job->pool = NULL;
}

static void done(struct wv_work *work)
{
	struct wv_job *job = (struct wv_job *)work;

	job->builders->done(job->builders->results, job);
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

	return wv_line_open(b->workers, &options, &b->line);
}

void wv_builders_stop(struct wv_builders *b)
{
	wv_each_job (b, job)
		wv_job_cancel(job);
	wv_line_close(&b->line, INT64_MAX);
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
	job->tenant->n_builds++;
	job->cost = pool->recipe->cost;
	wv_tenant_hold(job->tenant, &job->cost);
	job->held = true;
	job->failed_before = pool->n_failed;
	job->expected_us = expected_us;
	pool->n_building++;
	wv_line_give(b->line, &job->work);
	return 0;
}

void wv_job_cancel(struct wv_job *job)
{
	atomic_store(&job->cancelled, true);
}

struct wv_pooled_lease *wv_job_take(struct wv_job *job)
{
	struct wv_pooled_lease *lease = job->lease;

	if (!lease)
		return NULL;
	lease->tenant = job->tenant;
	lease->cost = job->cost;
	job->held = false;
	job->lease = NULL;
	return lease;
}
