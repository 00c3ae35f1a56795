/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/build.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

/* False: the thread is to end. */
static bool await_order(struct wv_job *job)
{
	struct wv_builders *b = job->builders;
	bool go_on;

	pthread_mutex_lock(&b->lock);
	while (job->state != WV_JOB_GIVEN && !b->stopping)
		pthread_cond_wait(&job->given, &b->lock);
	go_on = !b->stopping;
	pthread_mutex_unlock(&b->lock);
	return go_on;
}

static void carry_out(struct wv_job *job)
{
	const struct wv_issuer issuer = {.issue = job->issue, .cancelled = &job->cancelled};
	int64_t start = wv_steady_clock();

	job->err = wv_pooled_lease_make(job->recipe, &job->device, &issuer, &job->lease, job->why,
					sizeof(job->why));
	job->build_us = (uint32_t)(wv_steady_clock() - start);
}

static void deliver(struct wv_job *job)
{
	struct wv_builders *b = job->builders;

	pthread_mutex_lock(&b->lock);
	job->state = WV_JOB_DONE;
	pthread_mutex_unlock(&b->lock);
	eventfd_write(b->done_fd, 1);
}

static void *build(void *arg)
{
	struct wv_job *job = arg;

	while (await_order(job)) {
		carry_out(job);
		deliver(job);
	}
	return NULL;
}

static int start_threads(struct wv_builders *b)
{
	int err = 0;

	while (b->n < WV_BUILDERS && !err) {
		struct wv_job *job = &b->jobs[b->n];

		job->builders = b;
		pthread_cond_init(&job->given, NULL);
		err = wv_thread_start(&job->thread, build, job);
		if (!err)
			b->n++;
	}
	return err;
}

int wv_builders_start(struct wv_builders *b)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int err;

	if (fd < 0)
		return -errno;
	b->done_fd = fd;
	pthread_mutex_init(&b->lock, NULL);
	err = start_threads(b);
	if (!err)
		return 0;
	if (b->n)
		wv_builders_stop(b);
	else
		close(fd);
	return err;
}

void wv_builders_stop(struct wv_builders *b)
{
	if (!b->n)
		return;
	wv_each_job (b, job)
		wv_job_cancel(job);
	pthread_mutex_lock(&b->lock);
	b->stopping = true;
	for (unsigned int i = 0; i < b->n; i++)
		pthread_cond_signal(&b->jobs[i].given);
	pthread_mutex_unlock(&b->lock);
	while (b->n)
		pthread_join(b->jobs[--b->n].thread, NULL);
	wv_each_job (b, job)
		wv_job_clear(job);
	close(b->done_fd);
}

struct wv_job *wv_builders_idle(struct wv_builders *b)
{
	for (unsigned int i = 0; i < WV_BUILDERS; i++)
		if (!b->jobs[i].recipe)
			return &b->jobs[i];
	return NULL;
}

struct wv_job *wv_builders_done(struct wv_builders *b)
{
	struct wv_job *done = NULL;
	eventfd_t n;

	/* Read before the states, so that a job done from now on makes it readable again. */
	eventfd_read(b->done_fd, &n);
	pthread_mutex_lock(&b->lock);
	for (unsigned int i = 0; i < WV_BUILDERS && !done; i++)
		if (b->jobs[i].state == WV_JOB_DONE)
			done = &b->jobs[i];
	pthread_mutex_unlock(&b->lock);
	return done;
}

unsigned int wv_builders_busy(struct wv_builders *b)
{
	unsigned int n = 0;

	wv_each_job (b, job)
		n++;
	return n;
}

int wv_job_give(struct wv_job *job, struct wv_pool *pool, const struct wv_device *device,
		wv_issue_fn issue, uint32_t expected_us)
{
	struct wv_cmdlog *copy = malloc(pool->recipe->cmdlog->bytes);

	if (!copy)
		return -ENOMEM;
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
	pthread_mutex_lock(&job->builders->lock);
	job->state = WV_JOB_GIVEN;
	pthread_mutex_unlock(&job->builders->lock);
	pthread_cond_signal(&job->given); /* whom this wakes finds the lock free */
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

void wv_job_clear(struct wv_job *job)
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
	pthread_mutex_lock(&job->builders->lock);
	job->state = WV_JOB_IDLE;
	pthread_mutex_unlock(&job->builders->lock);
}
