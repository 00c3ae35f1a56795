/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/maker_sleep.h"

#include "base/base.h"
#include "preload/spares/stock.h"

#include <semaphore.h>
#include <time.h>

#define SOON_US 1000 /* lets the program connect the queue pair that it has just created */

static bool sleeping; /* until wv_maker_call() */
static sem_t woken;

void wv_maker_sleep_init(void)
{
	sem_init(&woken, 0, 0);
}

void wv_maker_sleep(bool look_again, bool (*has_news)(void))
{
	struct timespec until;

	__atomic_store_n(&sleeping, true, __ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WV_STOCK_IDLE_MS / 1000;
	if (has_news())
		;
	else if (look_again)
		sem_clockwait(&woken, CLOCK_MONOTONIC, &until);
	else
		sem_wait(&woken);
	__atomic_store_n(&sleeping, false, __ATOMIC_SEQ_CST);
	usleep(SOON_US);
}

void wv_maker_call(void)
{
	if (__atomic_exchange_n(&sleeping, false, __ATOMIC_SEQ_CST))
		sem_post(&woken);
}

void wv_maker_sleep_forked(void)
{
	sleeping = false;
}
