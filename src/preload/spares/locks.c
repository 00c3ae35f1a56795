/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/locks.h"

#include "base/base.h"
#include "preload/core/guard.h"

#include <pthread.h>

#define YIELD_US 20

/* Written around every fork, so it lies together. */
static struct {
	pthread_mutex_t making, stock;
	unsigned int n_waiting; /* for the maker's lock */
} locks WV_HOT = {.making = PTHREAD_MUTEX_INITIALIZER, .stock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t pairs = PTHREAD_MUTEX_INITIALIZER;

void wv_pair_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&pairs);
}

void wv_pair_unlock(void)
{
	pthread_mutex_unlock(&pairs);
	wv_guard_end();
}

void wv_stock_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&locks.stock);
}

void wv_stock_unlock(void)
{
	pthread_mutex_unlock(&locks.stock);
	wv_guard_end();
}

void wv_making_lock(void)
{
	__atomic_fetch_add(&locks.n_waiting, 1, __ATOMIC_ACQ_REL);
	wv_guard_begin();
	pthread_mutex_lock(&locks.making);
	__atomic_fetch_sub(&locks.n_waiting, 1, __ATOMIC_ACQ_REL);
}

void wv_making_unlock(void)
{
	pthread_mutex_unlock(&locks.making);
	wv_guard_end();
}

void wv_making_lock_last(void)
{
	while (__atomic_load_n(&locks.n_waiting, __ATOMIC_ACQUIRE))
		usleep(YIELD_US);
	wv_making_lock();
}

void wv_spare_locks_forked(void)
{
	locks.n_waiting = 0;
}
