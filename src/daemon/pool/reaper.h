/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reaper: threads that close leases. Closing a ufile destroys each of its objects, which takes
 * an adapter's firmware as long as creating them did, and the loop must not wait for that. There
 * are as many threads as builders, so that leases end as fast as they are made. Until it is closed,
 * a lease counts in the budgets.
 */
#pragma once

#include "daemon/pool/build.h"
#include "daemon/pool/pooled_lease.h"

#include <pthread.h>
#include <systemd/sd-event.h>

#define WV_REAPERS WV_BUILDERS

SLIST_HEAD(wv_ended_leases, wv_pooled_lease);

struct wv_reaper {
	/* Set by the owner before wv_reaper_start(); all of it outlives the reaper. */
	sd_event *event;
	/* Leases were closed: there is room for others. */
	void (*closed)(void *arg);
	void *arg;

	pthread_t threads[WV_REAPERS];
	unsigned int n_threads;
	int closed_fd; /* an eventfd; valid if there are threads */
	sd_event_source *source;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock: */
	struct wv_ended_leases waiting, ended;
	unsigned int n; /* not closed yet */
	bool stopping;
};

/* Starts the threads. 0; or -errno, and no thread is left. */
int wv_reaper_start(struct wv_reaper *r);

/* Waits until all leases given are closed. Harmless if the reaper was not started. */
void wv_reaper_stop(struct wv_reaper *r);

/* Closes @lease soon; it becomes the reaper's. */
void wv_reaper_give(struct wv_reaper *r, struct wv_pooled_lease *lease);

/* How many leases were given and are not closed yet. */
unsigned int wv_reaper_busy(struct wv_reaper *r);
