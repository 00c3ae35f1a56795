/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that a process gets from others. */
#pragma once

#include <signal.h>

/*
 * All signals but those of errors in this process itself: blocking them would only hide where they
 * come from.
 */
void wv_outer_signals(sigset_t *signals);
