/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stock/locks.h"

#include "base/base.h"
#include "preload/core/guard.h"
#include "preload/core/worker_lock.h"

/* Written around every fork, so it lies together. */
static struct {
	struct wv_worker_lock making;
	pthread_mutex_t stock;
} locks WV_HOT = {.making.mutex = PTHREAD_MUTEX_INITIALIZER, .stock = PTHREAD_MUTEX_INITIALIZER};

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
	wv_worker_lock(&locks.making);
}

bool wv_making_lock_in_time(void)
{
	return wv_worker_lock_in_time(&locks.making);
}

void wv_making_unlock(void)
{
	wv_worker_unlock(&locks.making);
}

void wv_making_lock_last(void)
{
	wv_worker_lock_last(&locks.making);
}

void wv_spare_locks_forked(void)
{
	wv_worker_lock_forked(&locks.making);
}
