/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reaper closes leases, in workers. Closing a ufile destroys each of its objects, which takes
 * an adapter's firmware as long as creating them did. It has as many workers as the builders have,
 * so that leases end as fast as they are made. Until it is closed, a lease counts in the budgets.
 */
#pragma once

#include "daemon/pool/build.h"
#include "daemon/pool/pooled_lease.h"

#define WV_REAPERS WV_BUILDERS

struct wv_reaper {
	/* Set by the owner before wv_reaper_start(); all of it outlives the reaper. */
	struct wv_workers *workers;
	/* Called by the loop when leases were closed: there is room for others. */
	void (*closed)(void *arg);
	void *arg;

	struct wv_line *line;
};

/* 0 or -errno. */
int wv_reaper_start(struct wv_reaper *r);

/* Waits until all leases given are closed. Harmless if the reaper was not started. */
void wv_reaper_stop(struct wv_reaper *r);

/* Closes @lease soon; it becomes the reaper's. */
void wv_reaper_give(struct wv_reaper *r, struct wv_pooled_lease *lease);
