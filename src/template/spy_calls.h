/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls by which a program sets, before its stop point, what may have been so already: nobody would
 * see that in what it has, and its starts would get what their clients have.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool wv_spy_has_set_limits(void);

/* Signals that it has set something for, if only the kernel's default: bit N - 1 is signal N. */
uint64_t wv_spy_set_signals(void);
