/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of preloaded libraries in a program that does not use them: runs it over and over,
 * plainly and with each library in turn, and prints the median time from start to end for each, and
 * for each library the median of what a run took longer than the one before it.
 */
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
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

/* Actions that discard the program's output. */
static posix_spawn_file_actions_t silence;

static void make_silence(void)
{
	posix_spawn_file_actions_init(&silence);
	posix_spawn_file_actions_addopen(&silence, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&silence, STDOUT_FILENO, STDERR_FILENO);
}

/* Every run must end as the first did, which is plain: some programs fail after --help. */
static uint64_t run_once(const struct way *way, char **command)
{
	static int usual = -1;
	uint64_t start = clock_ns();
	int err, status;
	pid_t pid;

	err = posix_spawn(&pid, command[0], &silence, NULL, command, (char **)way->environment);
	if (err)
		give_up(err, "cannot run %s", command[0]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    (usual >= 0 && status != usual))
		give_up(0, "%s failed, or ended differently than plainly", command[0]);
	usual = status;
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

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void add_way(struct way *way, const char *library)
{
	/* The loader would leave it out, and only say so. */
	if (access(library, R_OK))
		give_up(errno, "%s", library);
	way->library = library;
	if (asprintf(&way->environment[0], "LD_PRELOAD=%s", library) < 0)
		give_up(ENOMEM, "asprintf");
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: spawn [-n RUNS] [-p LIBRARY]... PROGRAM [ARGUMENT...]\n"
	      "Prints the median nanoseconds that PROGRAM takes plainly, then with each LIBRARY,\n"
	      "and what each LIBRARY adds to the way before it, as the median of pairs of runs.\n"
	      "  -n RUNS     how often each way (default: 200)\n"
	      "  -p LIBRARY  preload LIBRARY; up to 7 of them\n",
	      to);
	exit(status);
}

/* Of pairs of runs, one right after the other: what slows the machine for longer counts in none. */
static int64_t median_difference(const struct way *way, const struct way *before, size_t runs)
{
	int64_t *differences = made(calloc(runs, sizeof(*differences)), "calloc"), found;

	for (size_t run = 0; run < runs; run++)
		differences[run] = (int64_t)(way->times[run] - before->times[run]);
	qsort(differences, runs, sizeof(*differences), compare);
	found = differences[runs / 2];
	free(differences);
	return found;
}

static void print(struct way *ways, size_t n_ways, size_t runs)
{
	for (size_t i = 1; i < n_ways; i++)
		printf("above %s %ld\n", ways[i - 1].library ?: "plain",
		       (long)median_difference(&ways[i], &ways[i - 1], runs));
	for (size_t i = 0; i < n_ways; i++)
		printf("%s %lu\n", ways[i].library ?: "plain",
		       (unsigned long)median(ways[i].times, runs));
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
		ways[i].times = made(calloc(runs, sizeof(uint64_t)), "calloc");
	make_silence();
	run_all(ways, n_ways, runs, argv + optind);
	print(ways, n_ways, runs);
	for (size_t i = 0; i < n_ways; i++) {
		free(ways[i].times);
		free(ways[i].environment[0]);
	}
	return fflush(stdout) ? 1 : 0;
}
