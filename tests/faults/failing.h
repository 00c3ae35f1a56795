/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations of this process that fail when a test says so: those of all threads and all
 * libraries.
 */
#pragma once

#include <stdbool.h>

/* The @n-th allocation from now on, counted from 1, fails. */
void failing_begin(unsigned int n);

/* From now on none fails. Returns whether one did. */
bool failing_end(void);
