/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program many times, several at a time, and prints how long all of them took, how much
 * processor time that was, and how long each lived. What they print is printed when all have ended,
 * so that nothing gets mixed up. They are told when they were started (stamp.h).
 */
#include "../measure.h"
#include "../stamp.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITS_NUMBER "@"

extern char **environ;

struct run {
	pid_t pid;
	int printed; /* a file in memory */
	uint64_t started, ended;
};

static void start(struct run *run, char **command, size_t words, size_t i)
{
	char **own = made(calloc(words + 1, sizeof(*own)), "memory");
	posix_spawn_file_actions_t actions;
	char its_number[24], stamp[24];
	int err;

	snprintf(its_number, sizeof(its_number), "%zu", i);
	for (size_t word = 0; word < words; word++)
		own[word] = strcmp(command[word], ITS_NUMBER) ? command[word] : its_number;
	run->printed = memfd_create("printed", MFD_CLOEXEC);
	if (run->printed < 0 || posix_spawn_file_actions_init(&actions) ||
	    posix_spawn_file_actions_adddup2(&actions, run->printed, STDOUT_FILENO))
		give_up(errno, "memory");
	run->started = clock_ns();
	snprintf(stamp, sizeof(stamp), "%lu", (unsigned long)run->started);
	setenv(STAMP_ENV, stamp, 1);
	err = posix_spawnp(&run->pid, own[0], &actions, NULL, own, environ);
	if (err)
		give_up(err, "cannot run %s", own[0]);
	posix_spawn_file_actions_destroy(&actions);
	free(own);
}

/* Ends those that wait for one that has failed. */
static void end_others(const struct run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!runs[i].ended)
			kill(runs[i].pid, SIGKILL);
}

/* Waits for any of them to end. */
static void reap(struct run *runs, size_t n)
{
	int status;
	pid_t pid = wait(&status);
	uint64_t now = clock_ns();

	if (pid < 0)
		give_up(errno, "wait");
	for (size_t i = 0; i < n; i++)
		if (runs[i].pid == pid)
			runs[i].ended = now;
	if (status)
		end_others(runs, n);
	if (WIFSIGNALED(status))
		give_up(0, "one of the programs was ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		give_up(0, "one of the programs failed (%d)", WEXITSTATUS(status));
}

static void run_all(struct run *runs, size_t n, size_t at_a_time, char **command, size_t words)
{
	size_t started = 0;

	for (size_t ended = 0; ended < n; ended++) {
		for (; started < n && started - ended < at_a_time; started++)
			start(&runs[started], command, words, started);
		reap(runs, started);
	}
}

static void print(const struct run *run)
{
	char piece[4096];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(run->printed, piece, sizeof(piece), at)) > 0) {
		fwrite(piece, 1, (size_t)got, stdout);
		at += got;
	}
	if (got < 0)
		give_up(errno, "reading what a program has printed");
	close(run->printed);
	printf("lived %lu\n", (unsigned long)(run->ended - run->started));
}

static uint64_t nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

/* Of all that have ended, in user space and in the kernel. */
static uint64_t processor_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: burst [-c AT-A-TIME] [-n TIMES] PROGRAM [ARGUMENT...]\n"
	      "Runs the program; an argument " ITS_NUMBER
	      " stands for the number of the run, from 0.\n"
	      "Prints when it began, how long all took, their processor time, and how long each\n"
	      "lived (nanoseconds).\n"
	      "  -c AT-A-TIME  runs at any time (default: 1)\n"
	      "  -n TIMES      runs in all (default: as many as at a time)\n",
	      to);
	exit(status);
}

int main(int argc, char **argv)
{
	size_t at_a_time = 1, n = 0;
	struct run *runs;
	uint64_t began;
	int c;

	while ((c = getopt(argc, argv, "+c:n:h")) != -1) {
		if (c == 'c')
			at_a_time = number(optarg, 1);
		else if (c == 'n')
			n = number(optarg, 1);
		else
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	if (optind == argc)
		usage(stderr, 2);
	n = n ?: at_a_time;
	runs = made(calloc(n, sizeof(*runs)), "memory");
	began = clock_ns();
	run_all(runs, n, at_a_time, argv + optind, (size_t)(argc - optind));
	printf("began %lu\ntook %lu\nprocessor %lu\n", (unsigned long)began,
	       (unsigned long)(clock_ns() - began), (unsigned long)processor_time());
	for (size_t i = 0; i < n; i++)
		print(&runs[i]);
	free(runs);
	return fflush(stdout) ? 1 : 0;
}
