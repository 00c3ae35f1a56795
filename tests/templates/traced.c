/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that asks to be traced by its parent, which knows nothing of that.
 * usage: traced [once|exec|wait|storm N] STATUS
 *
 * once: gets a signal that does nothing. exec: executes itself. wait: says "ready", and waits for a
 * signal that ends it. storm: N orphans, and this process, stop and are continued again and again;
 * the orphans end with the parent of this process. Ends with STATUS.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_US 1000

static void be_traced(int number)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(number);
}

/* Every other one with a signal that stops, too, whoever traces: this process continues it. */
static _Noreturn void stop_again_and_again(int i)
{
	for (;;)
		be_traced(i % 2 ? SIGWINCH : SIGSTOP);
}

static void make_orphan(int i, pid_t parent)
{
	pid_t pid = fork();

	if (!pid && !fork()) {
		while (getppid() != parent)
			usleep(PAUSE_US);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		stop_again_and_again(i);
	}
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static _Noreturn void storm(int n)
{
	for (int i = 0; i < n; i++)
		make_orphan(i, getppid());
	puts("ready");
	fflush(stdout);
	for (;;) {
		kill(0, SIGCONT);
		be_traced(SIGWINCH);
		usleep(PAUSE_US);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "once")) {
		be_traced(SIGWINCH);
	} else if (!strcmp(what, "exec")) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(argv[0], argv[0], argv[2], NULL);
	} else if (!strcmp(what, "wait")) {
		be_traced(SIGWINCH);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		puts("ready");
		fflush(stdout);
		pause();
	} else if (!strcmp(what, "storm")) {
		storm(atoi(argv[2]));
	}
	return atoi(argv[argc - 1]);
}
