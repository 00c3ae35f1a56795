/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced run of a program, and its sums.
 */
#pragma once

#include "wire/trace_record.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>

struct wv_run {
	const struct wv_trace *records; /* ordered by time */
	size_t n;
	bool lease_wanted;
	int exit_code; /* of wv_exit_code() */
};

struct wv_summary {
	unsigned int adopted, kernel, recorded; /* commands, by who answered them */
	unsigned int spares, paired;
	unsigned int diverged; /* those of `kernel` that differ from the recipe */
	unsigned int creating; /* that create an object or move a QP to INIT, and succeeded */
	unsigned int ahead;    /* those of `creating` that had been done before */
	unsigned int repairs;  /* steps undone because the program diverged */
	unsigned int copied;   /* stale MRs: registered by the parent, posted by a child */
	unsigned int opens;
	unsigned int leased;				 /* opens with a lease */
	unsigned int ready;				 /* opens of a set made before the fork */
	unsigned int without_lease[WV_NO_LEASE_REASONS]; /* opens by reason, 0: not asked */
	uint64_t to_init, to_rts; /* since the start of the same process, in ns; 0: never */
};

void wv_summarise(const struct wv_run *run, struct wv_summary *summary);

/* The time at which the first record of @event's process began. */
uint64_t wv_run_start(const struct wv_run *run, const struct wv_trace *event);
