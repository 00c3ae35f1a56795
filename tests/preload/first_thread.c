/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the first thread of a process ends, no thread of the library is left by the time that a
 * destructor of the program's own value of that thread runs.
 *
 * usage: first_thread leaves|is-cancelled|of-a-child|of-a-user's-child
 *
 * Children are of another thread than the first, "user's": of a process that uses the library, too.
 */
#include "warmverbs.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_key_t own;
static bool cancelled;

static unsigned int tasks(void)
{
	struct stat folder;

	return stat("/proc/self/task", &folder) ? 0 : (unsigned int)folder.st_nlink - 2;
}

static void look(void *unused)
{
	unsigned int n = tasks();

	(void)unused;
	if (n > 1)
		fprintf(stderr, "%u threads are left\n", n);
	_exit(n > 1);
}

/*
 * The library gets a thread, which lasts for a while though there is no device, and this one ends.
 */
static void *end_with_a_thread(void *unused)
{
	if (pthread_key_create(&own, look) || pthread_setspecific(own, &own))
		_exit(2);
	while (tasks() < 2)
		wv_prefork(1, NULL, NULL);
	if (cancelled)
		pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_exit(unused);
}

static void *fork_and_wait(void *status)
{
	pid_t child = fork();

	if (!child)
		end_with_a_thread(NULL);
	return waitpid(child, status, 0) == child ? NULL : status;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status = 1;

	if (argc != 2)
		return 2;
	alarm(100);
	cancelled = !strcmp(argv[1], "is-cancelled");
	if (strncmp(argv[1], "of", 2) != 0)
		end_with_a_thread(NULL);
	if (strstr(argv[1], "user"))
		wv_prefork(1, NULL, NULL);
	if (pthread_create(&thread, NULL, fork_and_wait, &status) || pthread_join(thread, NULL))
		return 2;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
