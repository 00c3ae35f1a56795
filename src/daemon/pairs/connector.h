/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connects queue pairs of pooled leases, in a thread: each move takes an adapter's firmware 0.1 to
 * 20 ms, and the loop must not wait for that.
 */
#pragma once

#include "daemon/loop/workers.h"
#include "daemon/pairs/edges.h"
#include "daemon/pool/pooled_lease.h"

struct wv_connect_job {
	struct wv_work work;
	/* Set by the owner. @done is called in the loop; the job belongs to it. */
	void (*done)(void *arg, struct wv_connect_job *job);
	void *arg;
	struct wv_pooled_lease *lease; /* its `pair` says to what it is connected */
	wv_issue_fn issue;
	uint32_t flow_label; /* as of the edge, as the moves: */
	_Alignas(8) uint8_t moves[WV_MOVES_MAX_BYTES];

	int err; /* 0; or -errno, and then the lease is of no use any more */
};

/* Has @job done in @line. */
void wv_connect_lease(struct wv_line *line, struct wv_connect_job *job);
