/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reaper: a thread that closes leases. Closing a ufile destroys each of its objects, which
 * takes an adapter's firmware as long as creating them did, and the loop must not wait for that.
 */
#pragma once

#include "daemon/pool/pooled_lease.h"

#include <pthread.h>

struct wv_reaper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock: */
	SLIST_HEAD(, wv_pooled_lease) waiting;
	unsigned int n; /* not closed yet */
	bool stopping;
	bool running; /* the loop's alone */
};

/* Starts the thread. @r must be zeroed. 0 or -errno. */
int wv_reaper_start(struct wv_reaper *r);

/* Waits until all leases given are closed. Harmless if the thread was not started. */
void wv_reaper_stop(struct wv_reaper *r);

/* Closes @lease soon; it becomes the reaper's. */
void wv_reaper_give(struct wv_reaper *r, struct wv_pooled_lease *lease);

/* How many leases were given and are not closed yet. */
unsigned int wv_reaper_busy(struct wv_reaper *r);
