/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Back-off: how long to wait before an attempt that failed is repeated.
 */
#pragma once

#include <stdint.h>

/*
 * The pause after @failures failed attempts in a row, at least one: @first, doubled with every
 * further failure up to @longest, which is at least @first. Any unit of time.
 */
static inline uint64_t wv_backoff(uint64_t first, uint64_t longest, unsigned int failures)
{
	uint64_t pause = first;

	while (failures-- > 1 && pause < longest)
		pause = pause <= longest / 2 ? 2 * pause : longest;
	return pause;
}
