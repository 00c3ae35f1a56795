/*
 * Threads that make leases. A recipe is a series of commands, each of which takes an adapter's
 * firmware 0.1 to 20 ms, and a program waits at most WV_WAIT_MS for its answer: so the loop must
 * not carry recipes out itself.
 *
 * The loop decides what is made, and what becomes of it. A builder has one job, which holds all
 * that it reads; of the server it knows nothing.
 */
#pragma once

#include "daemon/pool/pool.h"

#include <pthread.h>

/*
 * Firmware carries out commands of one device side by side, but only a few of them; more would wait
 * in the kernel instead of here, where it is decided late what is needed most.
 */
#define WV_BUILDERS 4

enum wv_job_state {
	WV_JOB_IDLE,
	WV_JOB_GIVEN, /* to the builder */
	WV_JOB_DONE,  /* and not yet looked at */
};

struct wv_job {
	struct wv_builders *builders;
	pthread_t thread;
	pthread_cond_t given;
	enum wv_job_state state; /* guarded by the builders' lock */

	/* The order. The builder reads it while the job is GIVEN. */
	struct wv_cmdlog *recipe; /* a copy; NULL: idle */
	struct wv_device device;
	wv_issue_fn issue;
	atomic_bool cancelled; /* by the loop, at any time */

	/* The result. The builder writes it while the job is GIVEN. */
	struct wv_pooled_lease *ready; /* NULL if it failed */
	int err;		       /* as of wv_pooled_lease_make() */
	char why[WV_WHY_BYTES];
	uint32_t build_us;

	/* The loop's alone. */
	struct wv_pool *pool; /* NULL: dropped meanwhile */
	uid_t uid;
	struct wv_cost cost;
	unsigned int failed_before; /* the pool's n_failed when the job was given */
};

struct wv_builders {
	pthread_mutex_t lock;
	bool stopping;	/* guarded by it */
	unsigned int n; /* threads that run */
	int done_fd;	/* an eventfd: readable when a job is done; valid if n */
	struct wv_job jobs[WV_BUILDERS];
};

/* Starts the threads. 0; or -errno, and none is left. @b is zeroed. */
int wv_builders_start(struct wv_builders *b);
/*
 * Cancels what is being made and ends the threads, and all that was made and not taken. Waits for
 * the commands in progress. Harmless if they were not started.
 */
void wv_builders_stop(struct wv_builders *b);

/* A job that can be given, or NULL: all builders are busy. */
struct wv_job *wv_builders_idle(struct wv_builders *b);
/* A job that is done, to be looked at and then cleared; NULL: no more of them. */
struct wv_job *wv_builders_done(struct wv_builders *b);
/* Jobs that are not idle. */
unsigned int wv_builders_busy(struct wv_builders *b);

/*
 * Has a lease of @pool's recipe made on @device; both are copied as far as the builder needs them,
 * and the pool counts it as being built until the job is cleared. 0 or -ENOMEM.
 */
int wv_job_give(struct wv_job *job, struct wv_pool *pool, const struct wv_device *device,
		wv_issue_fn issue);
/* The builder stops before its next command, and nothing comes of the job. */
void wv_job_cancel(struct wv_job *job);
/* Makes a job that is done idle again; a lease still in it ends. */
void wv_job_clear(struct wv_job *job);

/* Loops over the jobs that are not idle. */
#define wv_each_job(b, job)                                                                        \
	for (struct wv_job *job = (b)->jobs; job < (b)->jobs + WV_BUILDERS; job++)                 \
		if (job->recipe)
