/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of preloaded libraries in a program that does not use them: runs it over and over,
 * plainly and with each library in turn, and prints the median time from start to end for each.
 */
#include "measure.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WAYS 8
#define WARM_UPS 10

struct way {
	const char *library; /* NULL: plain */
	char *environment[2];
	uint64_t *times;
};

static uint64_t run_once(const struct way *way, char **command)
{
	uint64_t start = clock_ns();
	int err, status;
	pid_t pid;

	err = posix_spawn(&pid, command[0], NULL, NULL, command, (char **)way->environment);
	if (err)
		give_up(err, "cannot run %s", command[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		give_up(0, "%s failed", command[0]);
	return clock_ns() - start;
}

/* Interleaved, so that other work of the machine affects all alike. */
static void run_all(struct way *ways, size_t n_ways, size_t runs, char **command)
{
	for (size_t run = 0; run < runs + WARM_UPS; run++)
		for (size_t i = 0; i < n_ways; i++) {
			uint64_t time = run_once(&ways[i], command);

			if (run >= WARM_UPS)
				ways[i].times[run - WARM_UPS] = time;
		}
}

static void add_way(struct way *way, const char *library)
{
	way->library = library;
	if (library && asprintf(&way->environment[0], "LD_PRELOAD=%s", library) < 0)
		give_up(ENOMEM, "asprintf");
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: spawn [-n RUNS] [-p LIBRARY]... PROGRAM [ARGUMENT...]\n"
	      "Prints the median nanoseconds that PROGRAM takes plainly, then with each LIBRARY.\n"
	      "  -n RUNS     how often each way (default: 200)\n"
	      "  -p LIBRARY  preload LIBRARY; up to 7 of them\n",
	      to);
	exit(status);
}

int main(int argc, char **argv)
{
	struct way ways[MAX_WAYS] = {0};
	size_t n_ways = 1, runs = 200;
	int c;

	while ((c = getopt(argc, argv, "+n:p:h")) != -1) {
		if (c == 'n')
			runs = number(optarg, 1);
		else if (c == 'p' && n_ways < MAX_WAYS)
			add_way(&ways[n_ways++], optarg);
		else
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	if (optind == argc)
		usage(stderr, 2);
	for (size_t i = 0; i < n_ways; i++)
		if (!(ways[i].times = calloc(runs, sizeof(uint64_t))))
			give_up(ENOMEM, "calloc");
	run_all(ways, n_ways, runs, argv + optind);
	for (size_t i = 0; i < n_ways; i++) {
		printf("%s %lu\n", ways[i].library ? ways[i].library : "plain",
		       (unsigned long)median(ways[i].times, runs));
		free(ways[i].times);
		free(ways[i].environment[0]);
	}
	return fflush(stdout) ? 1 : 0;
}
