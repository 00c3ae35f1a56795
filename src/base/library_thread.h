/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of a library in a program's process. */
#pragma once

#include <pthread.h>

/*
 * Starts a thread that has no part in what the program arranges for its own: it blocks all signals,
 * and does not take over the policy and processors of the thread that happens to start it. 0 and
 * *@thread, which is to be joined; or -errno.
 */
int wv_library_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);
