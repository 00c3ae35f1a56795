/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guards what a thread must not leave half done: every section with a lock of this library, and
 * others. It makes no system call, since a sandbox may forbid it.
 *
 * - The thread is not cancelled inside.
 * - fork() in a signal handler that interrupts a guarded section would wait for a lock that the
 *   thread itself holds. The fork handlers see that the thread is inside, and take no lock. The
 *   child then has a state in the middle of a change, and does not take it over (core/process.h).
 */
#pragma once

#include <stdbool.h>

/* Sections may be nested. */
void wv_guard_begin(void);
void wv_guard_end(void);

/* Whether this thread is in a guarded section. May be called in a signal handler. */
bool wv_guard_is_on(void);
