/* SPDX-License-Identifier: BSD-2-Clause */
#include "steps.h"

#include "measure.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Marks the beginning and the end of a part. */
#define MARK SIGUSR1

/* Written by the parent while the child is stopped. */
static volatile uint64_t *counted;

static void nothing(void *unused)
{
	(void)unused;
}

static uint64_t between_marks(void (*work)(void *arg), void *arg)
{
	raise(MARK);
	work(arg);
	raise(MARK);
	return *counted;
}

uint64_t steps_of(void (*work)(void *arg), void *arg)
{
	/* The first call of raise() binds it. */
	between_marks(nothing, NULL);
	return between_marks(work, arg) - between_marks(nothing, NULL);
}

static int wait_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		give_up(errno, "waitpid");
	return status;
}

/* Steps from one mark to the next. Returns the status of the stop. */
static int count(pid_t pid)
{
	uint64_t steps = 0;
	int status, signal = 0;

	while (true) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, signal))
			give_up(errno, "cannot go in single steps");
		status = wait_stop(pid);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) == MARK)
			break;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		steps++;
	}
	*counted = steps;
	return status;
}

static int lead(pid_t pid)
{
	int status = wait_stop(pid);

	while (WIFSTOPPED(status)) {
		int signal = WSTOPSIG(status);

		if (signal == MARK)
			status = count(pid);
		if (!WIFSTOPPED(status))
			break;
		if (signal == MARK || signal == SIGSTOP)
			signal = 0;
		ptrace(PTRACE_CONT, pid, NULL, signal);
		status = wait_stop(pid);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int steps_run(int (*program)(int argc, char **argv), int argc, char **argv)
{
	pid_t pid;

	counted =
	    mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counted == MAP_FAILED)
		give_up(errno, "memory");
	pid = fork();
	if (pid < 0)
		give_up(errno, "fork");
	if (pid)
		return lead(pid);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		give_up(errno, "ptrace is not allowed here");
	raise(SIGSTOP);
	exit(program(argc, argv));
}
