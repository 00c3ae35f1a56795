/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this process has done so far, for wv_query_statistics(). Only commands and opens are
 * counted; the data path counts nothing.
 */
#pragma once

#include "warmverbs.h"

extern struct wv_statistics wv_counters;

static inline void wv_count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}
