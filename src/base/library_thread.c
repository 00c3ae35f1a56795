/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/library_thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define STACK (512 * 1024)

/* The processors of the process are those of its first thread. */
static void set_processors(pthread_attr_t *attr)
{
	cpu_set_t all_of_them;

	if (!sched_getaffinity(getpid(), sizeof(all_of_them), &all_of_them))
		pthread_attr_setaffinity_np(attr, sizeof(all_of_them), &all_of_them);
}

int wv_library_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	const struct sched_param none = {.sched_priority = 0};
	pthread_attr_t attr;
	sigset_t every, saved;
	int error;

	sigfillset(&every);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &none); /* otherwise the caller's, which may not fit */
	set_processors(&attr);
	/* The program's threads handle its signals. */
	pthread_sigmask(SIG_SETMASK, &every, &saved);
	error = pthread_create(thread, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return -error;
}
