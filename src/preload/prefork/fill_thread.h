/*
 * The thread of a zygote: sleeps until there is something to do. It takes the lock of the zygote
 * for one verb at a time.
 */
#pragma once

#include <stdbool.h>

/*
 * Starts the thread, which calls @work until it returns how long to wait for the next time, in ms;
 * -1: until it is woken. 0, or -errno.
 */
int wv_fill_thread_start(int (*work)(bool devices_changed));

/*
 * Wakes it, if it sleeps for long. Whoever gives it something to do has the lock then, and so has
 * @work when it says that it will sleep.
 */
void wv_fill_thread_wake(void);
void wv_fill_thread_will_sleep(void);

/* In a child, which has no such thread. */
void wv_fill_thread_leave(void);
