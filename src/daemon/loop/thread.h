/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads beside the event loop.
 */
#pragma once

#include <pthread.h>

/*
 * Starts a thread that runs @run(@arg) with all signals blocked: signals belong to the loop, which
 * receives them through a signalfd. The caller joins the thread. 0 or -errno.
 */
int wv_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
