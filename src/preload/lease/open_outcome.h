/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome of each open of a device, for wv_query_status() and wv_query_statistics(). */
#pragma once

#include "warmverbs.h"

#include <stdbool.h>

/*
 * Counts the open of the device node @path that returned @fd, and remembers why it got no lease.
 * Call with the lock held.
 */
void wv_open_outcome_note(int fd, const char *path);

/* The parent opened the device, before the fork. */
void wv_open_outcome_note_preforked(void);

/* Why the last open got no lease. */
enum wv_reason wv_open_outcome_reason(void);

/* In a forked child: forgets the opens of its parent. */
void wv_open_outcome_forked(void);
