/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations, and starts of threads, that fail when a test says so: those of all threads, by all
 * objects (the program and libraries) or by one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The @n-th allocation from now on, counted from 1, fails. */
void failing_begin(uint32_t n);

/* From now on none fails. Returns whether one did. */
bool failing_end(void);

/* Only allocations by code of the object count whose path contains @part. */
void failing_only_by(const char *part);

/* The same as failing_begin(), for several processes, which count together in *@counter. */
void failing_share(uint32_t *counter, uint32_t n);
