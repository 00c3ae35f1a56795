/*
 * A thread that ends leases. Closing a ufile destroys each of its objects, which takes an adapter's
 * firmware as long as making them did: the loop must not wait for it.
 */
#pragma once

#include "daemon/pool/pool.h"

#include <pthread.h>

struct wv_reaper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock: */
	SLIST_HEAD(, wv_pooled_lease) waiting;
	unsigned int n; /* not ended yet */
	bool stopping;
	bool running; /* the loop's alone */
};

/* Starts the thread. 0 or -errno. @e is zeroed. */
int wv_reaper_start(struct wv_reaper *e);
/* Waits until all leases given have ended. Harmless if it was not started. */
void wv_reaper_stop(struct wv_reaper *e);

/* Ends @ready soon. */
void wv_reaper_give(struct wv_reaper *e, struct wv_pooled_lease *ready);
/* Leases that were given and have not ended. */
unsigned int wv_reaper_busy(struct wv_reaper *e);
