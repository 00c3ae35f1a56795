/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/lock.h"

#include "base/base.h"

#include <pthread.h>

static pthread_mutex_t lock WV_HOT = PTHREAD_MUTEX_INITIALIZER;

void wv_lock(void)
{
	pthread_mutex_lock(&lock);
}

void wv_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int wv_try_lock(void)
{
	return pthread_mutex_trylock(&lock);
}
