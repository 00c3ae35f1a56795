/*
 * For a trace: what a forked child posts with memory that was registered before the fork and that
 * it has a copy of. The adapter reads and writes the parent's pages, which is rarely what is meant.
 */
#pragma once

#include <infiniband/verbs.h>

/* Notes a registration, or forgets it. Nothing, if nothing is traced. Call with no lock held. */
void wv_stale_mr_note(const struct ibv_mr *mr);
void wv_stale_mr_forget(const struct ibv_mr *mr);

/*
 * In a forked child: what is registered by now was so before, and posts to inherited contexts are
 * looked at. Call with the lock held.
 */
void wv_stale_mr_forked(void);
