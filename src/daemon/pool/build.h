/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builders: workers that make leases, and as many that close them. Each command of a recipe takes
 * an adapter's firmware 0.1 to 20 ms, and a program waits at most WV_WAIT_MS for its answer, so the
 * loop must not carry recipes out itself. Closing a ufile destroys each of its objects, which takes
 * as long as creating them did; until it is closed, a lease counts in the budgets.
 *
 * The loop decides what is made and what happens to it: a new lease goes to its pool, a failure is
 * noted there. A builder has one job, which holds everything that it reads.
 */
#pragma once

#include "daemon/devices/constants.h"
#include "daemon/pool/plan.h"
#include "daemon/pool/pool.h"

#include <stdatomic.h>

/*
 * Firmware carries out only a few commands of one device at a time. More builders would make
 * commands wait in the kernel, whereas here the loop decides as late as possible which lease is
 * needed most.
 */
#define WV_BUILDERS 4

struct wv_job {
	struct wv_work work; /* first */
	struct wv_builders *builders;

	/* The order. The builder reads it. */
	struct wv_cmdlog *recipe; /* a copy; NULL: idle */
	struct wv_device device;
	wv_issue_fn issue;
	atomic_bool cancelled; /* by the loop, at any time */

	/* The result. The builder writes it. */
	struct wv_pooled_lease *lease; /* NULL if it failed */
	int err;		       /* as of wv_pooled_lease_make() */
	char why[WV_WHY_BYTES];
	uint32_t build_us;

	/* The loop's alone. */
	struct wv_pool *pool;	  /* NULL: dropped in the meantime */
	struct wv_tenant *tenant; /* of the pool */
	struct wv_cost cost;
	uint32_t expected_us;	    /* what the tenant was charged in advance */
	unsigned int failed_before; /* the pool's n_failed when the job was given */
};

struct wv_builders {
	/* Set by the owner before wv_builders_start(); all of it outlives the builders. */
	sd_event *event;
	struct wv_workers *workers;
	const struct wv_planner *planner;
	struct wv_all_constants *constants;
	/* Called by the loop when builders are idle again, or leases were closed. */
	void (*settled)(void *arg);
	void *arg;

	struct wv_line *making, *closing;
	struct wv_job jobs[WV_BUILDERS];
};

/* 0 or -errno. */
int wv_builders_start(struct wv_builders *b);
/*
 * Cancels all jobs, and waits for the commands in progress and until all leases given are closed.
 * Harmless if the builders were not started.
 */
void wv_builders_stop(struct wv_builders *b);

/* A job that can be given, or NULL if all builders are busy. */
struct wv_job *wv_builders_idle(struct wv_builders *b);
/* How many jobs are not idle. */
unsigned int wv_builders_busy(struct wv_builders *b);

/*
 * Has a lease of @pool's recipe made on @device, for which the pool's tenant was charged
 * @expected_us of builder time; the difference to the true time is charged when it is known. The
 * builder works on copies of both. The pool counts the lease as being built until the job is
 * cleared, and the tenant holds it from now on. 0 or -ENOMEM.
 */
int wv_job_give(struct wv_builders *b, struct wv_job *job, struct wv_pool *pool,
		const struct wv_device *device, wv_issue_fn issue, uint32_t expected_us);
/* Makes the builder stop before its next command; the job then fails. */
void wv_job_cancel(struct wv_job *job);

/*
 * Notes at @now_us of the loop's clock that no lease of @pool could be made, with @err and @why as
 * of wv_pooled_lease_make(), and sets when the next attempt may begin. A recipe that the kernel
 * contradicts again and again is declared unfit.
 */
void wv_build_failed(struct wv_pool *pool, int64_t now_us, int err, const char *why);

/* Closes @lease soon; it becomes the builders'. */
void wv_builders_close(struct wv_builders *b, struct wv_pooled_lease *lease);

/* Loops over the jobs that are not idle; only the loop's thread may. */
#define wv_each_job(b, job)                                                                        \
	for (struct wv_job *job = (b)->jobs; job < (b)->jobs + WV_BUILDERS; job++)                 \
		if (job->recipe)
