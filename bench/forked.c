/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long fork() of a process takes that has used much memory: as it is, or with what a template
 * does with its memory at its stop point. Prints the median.
 */
#include "measure.h"
#include "template/large_pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS 50
#define MB   ((size_t)1 << 20)

/* In small pages: that of a program that has grown bit by bit. */
static void use_memory(size_t bytes)
{
	char *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		give_up(errno, "memory");
	memset(memory, 1, bytes);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

static uint64_t fork_once(void)
{
	uint64_t began = clock_ns(), took;
	pid_t child = fork();

	took = clock_ns() - began;
	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		give_up(errno, "fork");
	return took;
}

static uint64_t fork_often(void)
{
	uint64_t times[RUNS];

	for (size_t i = 0; i < RUNS; i++)
		times[i] = fork_once();
	return median(times, RUNS);
}

int main(int argc, char **argv)
{
	if (argc != 3 || (strcmp(argv[2], "plain") != 0 && strcmp(argv[2], "template") != 0)) {
		fputs("usage: forked MB plain|template\n"
		      "Prints the nanoseconds of fork() in a process of this size.\n",
		      stderr);
		return 2;
	}
	use_memory(number(argv[1], 1) * MB);
	/* Before the first fork(), after which Linux 6.1 leaves small pages as they are. */
	if (!strcmp(argv[2], "template"))
		wv_large_pages_use();
	printf("fork %lu\n", (unsigned long)fork_often());
	return 0;
}
