/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes the results of builders: a new lease goes to its pool, a failure is noted there.
 */
#pragma once

#include "daemon/devices/constants.h"
#include "daemon/pool/build.h"
#include "daemon/pool/plan.h"
#include "daemon/pool/reaper.h"

struct wv_build_results {
	/* Set by the owner; all of it outlives this. */
	sd_event *event;
	const struct wv_planner *planner;
	struct wv_reaper *reaper; /* started */
	struct wv_all_constants *constants;
};

/* Takes the result of @job. @results: struct wv_build_results. */
void wv_build_result(void *results, struct wv_job *job);

/*
 * Notes at @now_us of the loop's clock that no lease of @pool could be made, with @err and @why as
 * of wv_pooled_lease_make(), and sets when the next attempt may begin. A recipe that the kernel
 * contradicts again and again is declared unfit.
 */
void wv_build_failed(struct wv_pool *pool, int64_t now_us, int err, const char *why);
