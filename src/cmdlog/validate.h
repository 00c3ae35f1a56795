/*
 * A recipe is input from a program that nobody vouches for. This decides whether the daemon may
 * carry it out, and what it would cost.
 */
#pragma once

#include "cmdlog/cmdlog.h"

/* What a lease of a recipe uses up, estimated from above. */
struct wv_cost {
	uint32_t pds, cqs, srqs, qps;
	uint32_t fds;	/* descriptors held by the daemon while the lease waits */
	uint64_t bytes; /* kernel and queue memory */
};

/*
 * Checks a recipe that passed wv_cmdlog_check() against the whitelist: known driver, commands and
 * attributes, QP types and flags that give no right beyond the device node's, references only to
 * earlier steps of the right kind, sizes within bounds. On success fills @cost and returns 0; else
 * -EPERM and @why names the rule.
 */
int wv_validate(struct wv_cmdlog *recipe, struct wv_cost *cost, const char **why);
