/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/worker_lock.h"

#include "base/clock.h"
#include "preload/core/guard.h"

#include <unistd.h>

#define YIELD_US    20
#define PATIENCE_MS 5000

static bool others_go_first(const struct wv_worker_lock *l)
{
	return __atomic_load_n(&l->n_first, __ATOMIC_ACQUIRE);
}

/* Guarded before it counts: a thread that is cancelled would be waited for for ever. */
void wv_worker_lock(struct wv_worker_lock *l)
{
	wv_guard_begin();
	wv_worker_lock_pause(l);
	pthread_mutex_lock(&l->mutex);
	wv_worker_lock_resume(l);
}

bool wv_mutex_lock_in_time(pthread_mutex_t *mutex)
{
	uint64_t until_ms = 0;

	while (pthread_mutex_trylock(mutex)) {
		if (!until_ms)
			until_ms = wv_clock_ms() + PATIENCE_MS;
		else if (wv_clock_ms() > until_ms)
			return false;
		usleep(YIELD_US);
	}
	return true;
}

bool wv_worker_lock_in_time(struct wv_worker_lock *l)
{
	bool taken;

	wv_guard_begin();
	wv_worker_lock_pause(l);
	taken = wv_mutex_lock_in_time(&l->mutex);
	wv_worker_lock_resume(l);
	if (!taken)
		wv_guard_end();
	return taken;
}

void wv_worker_unlock(struct wv_worker_lock *l)
{
	pthread_mutex_unlock(&l->mutex);
	wv_guard_end();
}

void wv_worker_lock_last(struct wv_worker_lock *l)
{
	wv_guard_begin();
	pthread_mutex_lock(&l->mutex);
	while (others_go_first(l)) {
		pthread_mutex_unlock(&l->mutex);
		usleep(YIELD_US);
		pthread_mutex_lock(&l->mutex);
	}
}

void wv_worker_lock_pause(struct wv_worker_lock *l)
{
	__atomic_fetch_add(&l->n_first, 1, __ATOMIC_ACQ_REL);
}

void wv_worker_lock_resume(struct wv_worker_lock *l)
{
	__atomic_fetch_sub(&l->n_first, 1, __ATOMIC_ACQ_REL);
}

void wv_worker_lock_forked(struct wv_worker_lock *l)
{
	l->n_first = 0;
}
