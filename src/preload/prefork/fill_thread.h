/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread of a zygote. It sleeps until there is something to do, and takes the lock of the
 * zygote for one verb at a time.
 */
#pragma once

#include <stdbool.h>

/*
 * Starts the thread, which calls @work again and again. @work returns how many ms to sleep before
 * the next call; -1: until wv_fill_thread_wake(). Returns 0 or -errno.
 */
int wv_fill_thread_start(int (*work)(bool devices_changed));

/*
 * Wakes the thread if it sleeps without a limit. Call both functions with the lock of the zygote
 * held: wake() after giving the thread something to do, will_sleep() before @work returns -1.
 */
void wv_fill_thread_wake(void);
void wv_fill_thread_will_sleep(void);

/* In a child, which has no such thread: closes the descriptors and forgets the thread. */
void wv_fill_thread_leave(void);
