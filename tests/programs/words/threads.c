/* SPDX-License-Identifier: BSD-2-Clause */
/* Words about the threads of a program. */
#include "words.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>

static void *wait_forever(void *unused)
{
	for (;;)
		poll(NULL, 0, -1);
	return unused;
}

/* From now on the program has another thread, which does nothing. */
int do_idle_thread(struct program *p, struct options o)
{
	pthread_t thread;

	(void)p;
	(void)o;
	return pthread_create(&thread, NULL, wait_forever, NULL);
}

static void *cancel(void *thread)
{
	pthread_cancel(*(pthread_t *)thread);
	return NULL;
}

/*
 * The end of main(), but of the process only if there is no other thread. "cancelled": a thread
 * that ends then, too, cancels it.
 */
int do_leave(struct program *p, struct options o)
{
	pthread_t self = pthread_self(), other;

	fflush(stdout);
	if (!has(o, "cancelled"))
		pthread_exit(NULL);
	if (pthread_create(&other, NULL, cancel, &self) || pthread_detach(other))
		return EAGAIN;
	wait_forever(p);
	return 0;
}

/* Without clock_nanosleep(2). */
int do_doze(struct program *p, struct options o)
{
	(void)p;
	poll(NULL, 0, (int)option(o, "ms", 1000));
	return 0;
}
