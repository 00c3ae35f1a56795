/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals as the kernel has them, with two that the C library uses itself and leaves out: a program
 * may get those, too. In a set, bit N - 1 is signal N.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WV_SIGNALS     64
#define WV_ALL_SIGNALS UINT64_MAX

static inline bool wv_has_signal(uint64_t set, int signal_number)
{
	return set >> (signal_number - 1) & 1;
}

/* Of this thread. */
uint64_t wv_signals_blocked(void);
void wv_signals_block(uint64_t set);

void wv_signal_ignore(int signal_number);

/* Those for which the C library itself sets a handler, whatever was there. */
extern const uint64_t wv_signals_of_libc;

/* signalfd(2), close-on-exec. Returns the descriptor or -1. */
int wv_signals_fd(uint64_t set);
