/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler keeps the pools at their targets, a tenant's pools while the tenant's programs make
 * no requests: in each idle iteration of the loop, and now and then if there is none, it starts and
 * closes one lease each, and has one recipe saved.
 */
#pragma once

#include "daemon/pool/build.h"
#include "daemon/pool/plan.h"
#include "daemon/pool/save.h"

struct wv_scheduler {
	/* Set by the owner before wv_scheduler_start(); all of it outlives the scheduler. */
	sd_event *event;
	struct wv_planner *planner;
	struct wv_builders *builders; /* started */
	struct wv_saver *saver;
	wv_issue_fn issue; /* how commands reach the kernel; called by several threads at once */

	/* The scheduler's own. */
	sd_event_source *timer, *work_source;
	struct wv_share_clock builds; /* tenants' shares of the builders */
	int64_t request_us;	      /* time of the last request */
	int64_t behind_us;	      /* since when a pool is below its target; 0: none is */
};

/* Starts the scheduler, which then waits for wv_scheduler_poke(). 0 or -errno. */
int wv_scheduler_start(struct wv_scheduler *s);

/* Stops it; leases stay as they are. Harmless if it was not started. */
void wv_scheduler_stop(struct wv_scheduler *s);

/*
 * @tenant made a request: see to its pools once it has made none for the refill delay. NULL: see to
 * all pools.
 */
void wv_scheduler_poke(struct wv_scheduler *s, struct wv_tenant *tenant);

/* Builders are idle, or pools are below their targets: see to them when nobody is being served. */
void wv_scheduler_go_on(struct wv_scheduler *s);

/* Devices came or changed: forgets all failures and tries again. */
void wv_scheduler_retry(struct wv_scheduler *s);

/* Gives @recipe a pool. 0 or -ENOMEM. */
int wv_scheduler_adopt(struct wv_scheduler *s, struct wv_recipe *recipe);

/*
 * The device @ibdev is gone: closes all leases of it at once, since they keep the kernel from
 * removing it. A builder that is making one stops after the command in progress.
 */
void wv_scheduler_drop_device(struct wv_scheduler *s, const char *ibdev);

/* Closes all leases of @recipe, as above, and frees its pool; harmless if it has none. */
void wv_scheduler_drop_recipe(struct wv_scheduler *s, struct wv_recipe *recipe);
