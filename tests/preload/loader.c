/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin whose constructor uses the library while another thread is in it: the constructor has
 * the loader's lock and wants the library's, so the library must not want the loader's while it has
 * its own. Linked to the library, in front of verbs of our own (loader_verbs.c).
 *
 * usage: loader PLUGIN [prepared]
 *
 * Exit status 3: the two wait for each other. With "prepared" the library has been used before, so
 * that only what it binds late can block.
 */
#include "warmverbs.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#undef ibv_reg_mr

#define TIMEOUT_S     20
#define EXIT_DEADLOCK 3
#define HOLD_US	      300000
#define BYTES	      (4 * 4096)

extern unsigned int loader_registrations; /* that came to libibverbs */

static sem_t loading;

/* Called by the plugin's constructor. */
void in_constructor(void);
__attribute__((visibility("default"))) void in_constructor(void)
{
	struct wv_status status;

	sem_post(&loading);
	usleep(HOLD_US); /* the other thread is where it will wait by then */
	if (wv_query_status(&status, sizeof(status)))
		abort();
}

static void *load(void *path)
{
	if (!dlopen(path, RTLD_NOW)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return NULL;
}

/* Says nothing: write() may have to be bound, and so wait for the loader's lock, too. */
static void give_up(int number)
{
	(void)number;
	_exit(EXIT_DEADLOCK);
}

/* Takes the library's lock, and reads /proc/self/smaps while it has it (WARMVERBS_SHARE_MR). */
static int register_memory(void *memory)
{
	struct ibv_pd pd = {.handle = 1};

	return ibv_reg_mr(&pd, memory, BYTES, 0) && loader_registrations == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
	void *memory =
	    mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wv_status status;
	pthread_t thread;
	int failed;

	if (argc > 2)
		wv_query_status(&status, sizeof(status));
	signal(SIGALRM, give_up);
	alarm(TIMEOUT_S);
	sem_init(&loading, 0, 0);
	pthread_create(&thread, NULL, load, argv[1]);
	sem_wait(&loading);
	failed = memory == MAP_FAILED || register_memory(memory);
	pthread_join(thread, NULL);
	return failed;
}
