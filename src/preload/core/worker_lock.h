/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lock that a worker (core/worker.h) holds for one verb at a time. A mutex is not fair, and the
 * program must wait for one verb at most, so a worker lets the program's threads go first. A thread
 * that holds the lock is guarded (core/guard.h).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct wv_worker_lock {
	pthread_mutex_t mutex;
	unsigned int n_first; /* threads that wait, and pauses */
};

void wv_worker_lock(struct wv_worker_lock *l);
void wv_worker_unlock(struct wv_worker_lock *l);

/*
 * For a fork. False, and the lock is not taken, after 5 s: a worker may wait for a provider's lock
 * that this thread holds, if a signal handler has interrupted it in a verb.
 */
bool wv_worker_lock_in_time(struct wv_worker_lock *l);
bool wv_mutex_lock_in_time(pthread_mutex_t *mutex);

/* For a worker, and for what may wait as long. */
void wv_worker_lock_last(struct wv_worker_lock *l);

/* Between these two, no worker gets the lock. */
void wv_worker_lock_pause(struct wv_worker_lock *l);
void wv_worker_lock_resume(struct wv_worker_lock *l);

/* In a forked child, whose parent held the lock: no thread waits. */
void wv_worker_lock_forked(struct wv_worker_lock *l);
