/* SPDX-License-Identifier: BSD-2-Clause */
#include "storm.h"

#include "../words/words.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_AT_ONCE 64
#define LOOK_US	    50

struct child {
	pid_t pid; /* 0: none */
	uint64_t end;
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void __attribute__((noreturn)) be_child(const struct storm *storm)
{
	struct program program = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	alarm(LIMIT_S); /* for those whose parent is killed */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	exit(run_words(&program, storm->words, storm->n_words) != 0);
}

static struct child fork_one(const struct storm *storm)
{
	struct child child = {.pid = fork()};

	if (!child.pid)
		be_child(storm);
	if (child.pid < 0) { /* as a number it would be all processes */
		perror("fork");
		abort();
	}
	child.end = now_us() + (uint64_t)rand() % (uint64_t)storm->microseconds;
	return child;
}

struct counts {
	int failed, killed;
};

/* Whether the child has ended; one that failed or was killed is counted. */
static bool has_ended(struct child *child, struct counts *counts)
{
	bool killed;
	int status;

	if (waitpid(child->pid, &status, WNOHANG) != child->pid)
		return false;
	child->pid = 0;
	killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	counts->killed += killed;
	counts->failed += status && !killed;
	return true;
}

/* How many of the children have ended. */
static int look_after(struct child *children, int n, struct counts *counts)
{
	int ended = 0;

	for (int i = 0; i < n; i++) {
		if (!children[i].pid)
			continue;
		if (now_us() >= children[i].end)
			kill(children[i].pid, SIGKILL);
		ended += has_ended(&children[i], counts);
	}
	return ended;
}

int storm_run(const struct storm *storm)
{
	struct child children[MAX_AT_ONCE] = {0};
	int n = storm->at_once < MAX_AT_ONCE ? storm->at_once : MAX_AT_ONCE;
	uint64_t until = now_us() + (uint64_t)storm->seconds * 1000000;
	int forked = 0, ended = 0, most = storm->children;
	struct counts counts = {0};

	while (ended < most) {
		if (now_us() >= until)
			most = forked;
		for (int i = 0; i < n && forked < most; i++) {
			if (children[i].pid)
				continue;
			children[i] = fork_one(storm);
			forked++;
		}
		usleep(LOOK_US);
		ended += look_after(children, n, &counts);
	}
	printf("# storm %d forked, %d killed\n", forked, counts.killed);
	fflush(stdout); /* else children that are forked later would print it too */
	return counts.failed;
}
