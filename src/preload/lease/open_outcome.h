/*
 * How the opens of devices went, for wv_query_status() and wv_query_statistics().
 */
#pragma once

#include "warmverbs.h"

#include <stdbool.h>

/*
 * The device that was opened as @fd is counted, and why it has no lease is remembered. @unasked is
 * why the daemon was not asked, or turned out not to be there. Call with the lock held.
 */
void wv_open_outcome_note(int fd, enum wv_reason unasked);

/* The device was opened by the parent, before the fork. */
void wv_open_outcome_note_preforked(void);

/* Why the last open got no lease. */
enum wv_reason wv_open_outcome_reason(void);

/* In a forked child: what was counted is the parent's. */
void wv_open_outcome_forked(void);
