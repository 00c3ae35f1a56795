/* The daemon's threads beside the loop. */
#pragma once

#include <pthread.h>

/*
 * Starts a thread that takes no signal: they are the loop's, which waits for them by signalfd. 0 or
 * -errno.
 */
int wv_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
