/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of this library in a program's process. */
#pragma once

/*
 * Starts @run in a detached thread with a small stack, in which all signals are blocked, and
 * returns once @run is called: 0, or -errno. Call with a lock held that a fork takes: no fork may
 * happen while the runtime starts the thread.
 */
int wv_own_thread_start(void *(*run)(void *unused));
