/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that open, copy, replace and close devices and pipes at once, while others fork: every
 * byte must arrive where it was sent. For the thread sanitizer too.
 *
 * usage: stress [fork]
 */
#include "behind.h"

#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	   8
#define ROUNDS	   400
#define FORKS	   60
#define OWN	   1000 /* from here on, OWN_EACH numbers are each thread's own */
#define OWN_EACH   32
#define PATIENCE_S 100

#define TRUE(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%d: not so: %s\n", __LINE__, #condition);                 \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Open numbers are the threads' own, except that a number may be the pipe's just closed. */
static void through_pipe(int from, int to, uint64_t value)
{
	uint64_t got = 0;

	TRUE(write(from, &value, sizeof(value)) == sizeof(value));
	TRUE(read(to, &got, sizeof(got)) == sizeof(got) && got == value);
}

static void command(int node)
{
	struct ib_uverbs_ioctl_hdr empty = {.length = sizeof(empty), .object_id = 99};

	TRUE(ioctl(node, RDMA_VERBS_IOCTL, &empty) == 0);
}

static void one_round(int thread, uint64_t value)
{
	int low = OWN + thread * OWN_EACH, node, copy, ends[2];

	node = open(BEHIND_NODE, O_RDWR | O_CLOEXEC);
	TRUE(node >= 0);
	command(node);
	copy = fcntl(node, F_DUPFD_CLOEXEC, low);
	TRUE(copy == low && dup2(node, low + 1) == low + 1);
	TRUE(dup3(node, low + 2, O_CLOEXEC) == low + 2);
	TRUE(close(node) == 0);
	command(copy);
	TRUE(pipe(ends) == 0);
	TRUE(dup2(ends[1], copy) == copy);
	through_pipe(copy, ends[0], value);
	command(low + 1);
	TRUE(dup3(ends[0], low + 1, 0) == low + 1);
	through_pipe(copy, low + 1, ~value);
	TRUE(close_range((unsigned int)low, (unsigned int)low + OWN_EACH - 1, 0) == 0);
	TRUE(fcntl(low + 2, F_GETFD) < 0);
	through_pipe(ends[1], ends[0], value);
	TRUE(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void *work(void *argument)
{
	int thread = (int)(intptr_t)argument;

	for (int round = 0; round < ROUNDS; round++)
		one_round(thread, (uint64_t)thread << 32 | (unsigned int)round);
	return NULL;
}

static void join(pid_t child)
{
	int status;

	TRUE(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void fork_one(int i)
{
	pid_t child = i % 2 ? fork() : vfork();

	if (!child) {
		if (i % 2)
			for (int fd = 3; fd < OWN + THREADS * OWN_EACH; fd++)
				close(fd);
		if (i % 3 == 0)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	join(child);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	alarm(PATIENCE_S);
	for (int i = 0; i < THREADS; i++)
		TRUE(!pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i));
	for (int i = 0; i < FORKS && argc > 1 && !strcmp(argv[1], "fork"); i++)
		fork_one(i);
	for (int i = 0; i < THREADS; i++)
		TRUE(!pthread_join(threads[i], NULL));
	return 0;
}
