/*
 * What a trace comes to.
 */
#pragma once

#include "wire/trace_record.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>

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

/* @records are ordered by time. */
void wv_summarise(const struct wv_trace *records, size_t n, struct wv_summary *summary);

/* When the first record of @event's process began. */
uint64_t wv_trace_start(const struct wv_trace *records, size_t n, const struct wv_trace *event);
