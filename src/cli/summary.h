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
};

struct wv_summary {
	unsigned int adopted, kernel, recorded;
	unsigned int diverged; /* of those in `kernel`: could have been adopted */
	unsigned int repairs;  /* steps undone because the program went another way */
	unsigned int copied;   /* registrations of which a child posted its own copy */
	unsigned int opens;
	unsigned int leased;				   /* of the opens */
	unsigned int ready;				   /* made by a parent before the fork */
	unsigned int without_lease[WV_NO_LEASE_UNFIT + 1]; /* by reason, 0: not asked */
	uint64_t to_init, to_rts; /* from the start of the same process, in ns; 0: never */
};

void wv_summarise(const struct wv_run *run, struct wv_summary *summary);

/* The time at which the first record of @event's process began. */
uint64_t wv_run_start(const struct wv_run *run, const struct wv_trace *event);
