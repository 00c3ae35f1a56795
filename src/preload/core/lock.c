/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/lock.h"

#include "base/base.h"
#include "preload/core/guard.h"

#include <pthread.h>

static pthread_mutex_t lock WV_HOT = PTHREAD_MUTEX_INITIALIZER;

void wv_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&lock);
}

void wv_unlock(void)
{
	pthread_mutex_unlock(&lock);
	wv_guard_end();
}

int wv_try_lock(void)
{
	int error;

	wv_guard_begin();
	error = pthread_mutex_trylock(&lock);
	if (error)
		wv_guard_end();
	return error;
}
