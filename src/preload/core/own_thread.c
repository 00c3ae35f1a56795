/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/own_thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define STACK	(512 * 1024)
#define BEGIN_S 1

/* Lives until both sides are done with it: the wait for the thread has a limit. */
struct beginning {
	void *(*run)(void *unused);
	sem_t begun;
	unsigned int users;
};

static void leave(struct beginning *b)
{
	if (!__atomic_sub_fetch(&b->users, 1, __ATOMIC_ACQ_REL))
		free(b);
}

static void *begin(void *arg)
{
	struct beginning *b = arg;
	void *(*run)(void *unused) = b->run;

	sem_post(&b->begun);
	leave(b);
	return run(NULL);
}

/*
 * The runtime takes locks of its own while it starts a thread, and some allocators do not handle
 * fork() (ASan's), so a child could never take these locks. The wait has a limit, because a library
 * whose fork handler runs after ours may hold such a lock.
 */
static void await_begin(struct beginning *b)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += BEGIN_S;
	while (sem_clockwait(&b->begun, CLOCK_MONOTONIC, &until) && errno == EINTR)
		;
}

static int create(struct beginning *b)
{
	pthread_attr_t attr;
	sigset_t all, saved;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	/* The program's threads handle its signals. */
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	error = pthread_create(&thread, &attr, begin, b);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return -error;
}

int wv_own_thread_start(void *(*run)(void *unused))
{
	struct beginning *b = malloc(sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	*b = (struct beginning){.run = run, .users = 2};
	sem_init(&b->begun, 0, 0);
	err = create(b);
	if (err)
		leave(b);
	else
		await_begin(b);
	leave(b);
	return err;
}
