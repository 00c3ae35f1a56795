/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that uses no RDMA, unless told to, and forks children that do: prints the median time
 * of fork(), and of each verb of the children up to a queue pair in INIT. The children then do an
 * RDMA READ. An ordinary program: it knows nothing of warmverbs.
 */
#include "measure.h"
#include "start.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_BYTES 8192

struct options {
	size_t children, first;
	unsigned int pause_ms;
	bool marks, keeps;
};

/* Written by parent and child. */
struct report {
	uint64_t begin;	  /* of fork() */
	uint64_t at_init; /* when the child got there */
	struct start start;
};

static struct report *reports;

/* A mark for strace: a system call that the kernel refuses. */
static void mark(const char *text, size_t length)
{
	syscall(SYS_write, -1, text, length);
}

static _Noreturn void child(struct report *report, bool marks)
{
	static char memory[MEMORY_BYTES] __attribute__((aligned(4096)));

	/* Touches the pages that measuring needs, so that no page fault is measured. */
	memset(&report->start, 0, sizeof(report->start));
	clock_ns();
	if (marks)
		mark("begin", 5);
	start_to_init(&report->start);
	report->at_init = clock_ns();
	if (marks)
		mark("end", 3);
	start_read_own(&report->start, memory, sizeof(memory));
	exit(0);
}

/* Nanoseconds that fork() took. */
static uint64_t fork_one(struct report *report, bool marks)
{
	uint64_t took;
	pid_t pid;
	int status;

	report->begin = clock_ns();
	pid = fork();
	if (!pid)
		child(report, marks);
	took = clock_ns() - report->begin;
	if (pid < 0)
		give_up(errno, "fork");
	if (waitpid(pid, &status, 0) != pid || status)
		give_up(0, "a child failed");
	return took;
}

/* The number of mappings that fork() must copy or leave out. */
static unsigned long mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long lines = 0;
	int c;

	if (!maps)
		give_up(errno, "/proc/self/maps");
	while ((c = getc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static void *sleep_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/*
 * What a process cannot do without that prepares objects for a child: the provider, one set of
 * objects, and a thread.
 */
static void keep_one(void)
{
	static struct start own;
	pthread_t thread;

	start_to_init(&own);
	if (pthread_create(&thread, NULL, sleep_for_ever, NULL))
		give_up(errno, "pthread_create");
}

static void print(const char *name, uint64_t *values, size_t n)
{
	printf("%s %lu\n", name, (unsigned long)median(values, n));
}

static void print_children(const struct report *of, size_t n, uint64_t *values)
{
	for (size_t i = 0; i < n; i++)
		values[i] = of[i].at_init - of[i].begin;
	print("fork_to_init", values, n);
	for (size_t i = 0; i < n; i++)
		values[i] = start_total(&of[i].start);
	print("list_to_init", values, n);
	for (int verb = 0; verb < START_VERBS; verb++) {
		for (size_t i = 0; i < n; i++)
			values[i] = of[i].start.spent[verb];
		print(start_names[verb], values, n);
	}
}

static void run(const struct options *o)
{
	size_t all = o->first + o->children;
	uint64_t *forks = made(calloc(all, sizeof(*forks)), "memory");

	clock_ns(); /* The first call binds it. */
	if (o->keeps)
		keep_one();
	for (size_t i = 0; i < all; i++) {
		usleep(o->pause_ms * 1000);
		forks[i] = fork_one(&reports[i], o->marks);
	}
	print("fork", forks + o->first, o->children);
	print_children(reports + o->first, o->children, forks);
	printf("mappings %lu\n", mappings());
	free(forks);
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: zygote [-n CHILDREN] [-f FIRST] [-p MS] [-k] [-m]\n"
	      "Prints median nanoseconds of fork(), and of its children's verbs up to INIT.\n"
	      "  -n CHILDREN  that count (default: 10)\n"
	      "  -f FIRST     children before them, which do not count (default: 3)\n"
	      "  -p MS        pause before each child (default: 200)\n"
	      "  -k           the parent keeps a set of objects and a thread by itself\n"
	      "  -m           children mark where their verbs begin and end, for strace\n",
	      to);
	exit(status);
}

static struct options parse(int argc, char **argv)
{
	struct options o = {.children = 10, .first = 3, .pause_ms = 200};
	int c;

	while ((c = getopt(argc, argv, "n:f:p:kmh")) != -1) {
		switch (c) {
		case 'n':
			o.children = number(optarg, 1);
			break;
		case 'f':
			o.first = number(optarg, 0);
			break;
		case 'p':
			o.pause_ms = (unsigned int)number(optarg, 0);
			break;
		case 'k':
			o.keeps = true;
			break;
		case 'm':
			o.marks = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
		}
	}
	if (optind != argc)
		usage(stderr, 2);
	return o;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);

	reports = shared_memory((options.first + options.children) * sizeof(*reports));
	run(&options);
	return fflush(stdout) ? 1 : 0;
}
