/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fork while another thread is in the middle of opening a device, and so holds the preload's
 * lock.
 *
 * usage: midway [unguarded]
 *
 * The child uses the lock too. "unguarded", behind a preload that swallows fork handlers (deaf.c),
 * nobody gives it the lock, and the preload leaves the child alone.
 */
#include "behind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 100
#define SKIPPED	   77

static sem_t inside, go_on;
static pid_t forking; /* the thread that does */

static void __attribute__((noreturn)) give_up(const char *what, int status)
{
	fprintf(stderr, "%s\n", what);
	_exit(status);
}

/* Whether the thread or process sleeps for a lock. */
static bool waits_for_lock(pid_t tid)
{
	char path[64], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		give_up("skipped: what a thread waits for cannot be read", SKIPPED);
	fclose(file);
	return atoi(text) == SYS_futex;
}

/* Called by the second preload, inside the open of a node. */
static void at_open(void)
{
	sem_post(&inside);
	sem_wait(&go_on);
}

static void set_hook(void (*hook)(void))
{
	void (*set)(void (*)(void)) =
	    (void (*)(void (*)(void)))dlsym(RTLD_DEFAULT, "behind_at_open");

	set(hook);
}

static void *open_slowly(void *unused)
{
	(void)unused;
	set_hook(at_open);
	close(open(BEHIND_NODE, O_RDWR | O_CLOEXEC));
	return NULL;
}

/* Lets the open go on once the fork waits for it. */
static void *release(void *unused)
{
	(void)unused;
	while (!waits_for_lock(forking))
		usleep(1000);
	sem_post(&go_on);
	return NULL;
}

static void check_ends(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		give_up("the child did not end well", 1);
}

int main(int argc, char **argv)
{
	bool guarded = argc < 2 || strcmp(argv[1], "unguarded");
	int node = open(BEHIND_NODE, O_RDWR | O_CLOEXEC);
	pthread_t opener, releaser;
	pid_t child;

	alarm(PATIENCE_S);
	forking = getpid();
	sem_init(&inside, 0, 0);
	sem_init(&go_on, 0, 0);
	pthread_create(&opener, NULL, open_slowly, NULL);
	sem_wait(&inside);
	if (guarded)
		pthread_create(&releaser, NULL, release, NULL);
	child = fork();
	if (!child) {
		alarm(PATIENCE_S);
		set_hook(NULL);
		_exit(close(node) || open(BEHIND_NODE, O_RDWR | O_CLOEXEC) < 0);
	}
	check_ends(child);
	if (guarded)
		pthread_join(releaser, NULL);
	else
		sem_post(&go_on);
	pthread_join(opener, NULL);
	return 0;
}
