/* SPDX-License-Identifier: BSD-2-Clause */
/* Words about the process itself. */
#include "words.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The kernel reads this at each system call: whether to raise SIGSYS. */
static volatile char calls_are_told = SYSCALL_DISPATCH_FILTER_ALLOW;
static int first_call = -1;

/* The call is made in any case; later calls raise no signal. */
static void told(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	int saved = errno;
	long result;

	(void)signal;
	calls_are_told = SYSCALL_DISPATCH_FILTER_ALLOW;
	first_call = info->si_syscall;
	result = syscall(first_call, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8],
			 r[REG_R9]);
	r[REG_RAX] = result < 0 ? -errno : result;
	errno = saved;
}

/* From here on no system call is expected. */
int do_silent(struct program *p, struct options o)
{
	struct sigaction action = {.sa_sigaction = told, .sa_flags = SA_SIGINFO};

	(void)p;
	(void)o;
	if (sigaction(SIGSYS, &action, NULL))
		return errno;
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &calls_are_told))
		return errno;
	first_call = -1;
	printf("# silent\n"); /* stdio has its buffer now */
	calls_are_told = SYSCALL_DISPATCH_FILTER_BLOCK;
	return 0;
}

/* Prints the first system call since, or -1. */
int do_spoken(struct program *p, struct options o)
{
	(void)p;
	(void)o;
	calls_are_told = SYSCALL_DISPATCH_FILTER_ALLOW;
	printf("# call %d\n", first_call);
	return 0;
}

/* As daemons do at their start. */
int do_closefrom(struct program *p, struct options o)
{
	(void)p;
	closefrom((int)option(o, "fd", STDERR_FILENO + 1));
	return 0;
}

/* A double fork: another process does the words that follow. */
int do_daemon(struct program *p, struct options o)
{
	pid_t child;

	(void)p;
	(void)o;
	fflush(stdout);
	child = fork();
	if (child < 0)
		return errno;
	if (child)
		_exit(0);
	alarm(LIMIT_S); /* is not inherited */
	printf("# daemon %d\n", getpid());
	return setsid() < 0 ? errno : 0;
}

int do_exec(struct program *p, struct options o)
{
	(void)p;
	(void)o;
	fflush(stdout);
	execlp("true", "true", NULL);
	return errno;
}

int do_crash(struct program *p, struct options o)
{
	const struct rlimit none = {0};

	(void)p;
	(void)o;
	fflush(stdout);
	setrlimit(RLIMIT_CORE, &none);
	return raise(SIGABRT); /* sanitizers do not catch it */
}
