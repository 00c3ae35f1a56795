/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recipe is input from an untrusted program. This decides whether the daemon may carry it out,
 * and estimates its cost.
 */
#pragma once

#include "cmdlog/cmdlog.h"

#include <stdbool.h>

/* The moves of one queue pair to RTR and RTS fit into so many bytes. */
#define WV_MOVES_MAX_BYTES 2048

/* What a lease of a recipe costs, estimated from above. */
struct wv_cost {
	uint32_t pds, cqs, srqs, qps;
	uint32_t fds;	/* descriptors held by the daemon while the lease waits */
	uint64_t bytes; /* kernel and queue memory */
};

/*
 * Whether @step of @cmdlog, which was checked or written by a writer, is a create that the kernel
 * refuses every time, and that a recipe may hold: programs learn from that what a device can do.
 */
bool wv_step_is_probe(const struct wv_cmdlog *cmdlog, struct wv_step *step);

/*
 * Checks a recipe that passed wv_cmdlog_check() against the whitelist: known driver, commands and
 * attributes; QP types and flags that need no more than access to the device node; references only
 * to earlier steps of the right kind; sizes within bounds. On success fills in @cost and returns 0;
 * else returns -EPERM, and @why names the rule.
 */
int wv_validate(struct wv_cmdlog *recipe, struct wv_cost *cost, const char **why);

/*
 * Checks a record that passed wv_cmdlog_check(): exactly two steps, which moved one RC queue pair
 * to RTR and to RTS, with attributes that the daemon may repeat (wv_qp_connects()). Returns as
 * wv_validate() does.
 */
int wv_validate_moves(struct wv_cmdlog *moves, const char **why);
