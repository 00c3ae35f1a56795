/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock for waits and pauses. */
#pragma once

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, in milliseconds. */
static inline uint64_t wv_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
