/* SPDX-License-Identifier: BSD-2-Clause */
/* Words about the process itself. */
#include "words.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

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

/* Connections to the daemon, by its socket or the user's beside it. */
static void close_connections(void)
{
	const char *path = getenv("WARMVERBS_SOCKET");

	for (int fd = STDERR_FILENO + 1; path && fd < 256; fd++) {
		struct sockaddr_un peer = {.sun_family = AF_UNSPEC};
		socklen_t bytes = sizeof(peer);

		if (!getpeername(fd, (struct sockaddr *)&peer, &bytes) &&
		    peer.sun_family == AF_UNIX && !strncmp(peer.sun_path, path, strlen(path)))
			close(fd);
	}
}

/* As daemons do at their start. "closefrom:fd=N"; or, with "connections", only these. */
int do_closefrom(struct program *p, struct options o)
{
	(void)p;
	if (has(o, "connections")) {
		close_connections();
		return 0;
	}
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
	fflush(stdout);
	if (!has(o, "core"))
		setrlimit(RLIMIT_CORE, &none);
	return raise(SIGABRT); /* sanitizers do not catch it */
}

static int await(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return status ? ECHILD : 0;
}

/*
 * The child closes the device, which stays open here, and ends by exec() or at once. Or it gives up
 * rights.
 */
int do_vfork(struct program *p, struct options o)
{
	int ufile = p->context->cmd_fd;
	bool runs_another = has(o, "exec");
	pid_t child;

	fflush(stdout); /* ThreadSanitizer forks instead, and its _exit() writes what is left */
	child = vfork();

	if (!child) {
		if (has(o, "rights"))
			_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || setuid(getuid()));
		close(ufile);
		close_range(STDERR_FILENO + 1, ~0u, 0);
		if (runs_another)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	return await(child);
}

/* The child closes the device, and puts another file in its place. */
int do_spawn(struct program *p, struct options o)
{
	char *args[] = {"true", NULL};
	posix_spawn_file_actions_t actions;
	pid_t child = -1;
	int error;

	(void)o;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, p->context->async_fd);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, p->context->cmd_fd);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	error = posix_spawn(&child, "/bin/true", &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error ?: await(child);
}

/* Keeps only the variables by which the stand-in's library finds its server and its files. */
int do_clearenv(struct program *p, struct options o)
{
	static const char *const kept[] = {"STANDIN_SOCKET", "SYSFS_PATH"};
	char *values[COUNT_OF(kept)];

	(void)p;
	(void)o;
	for (unsigned int i = 0; i < COUNT_OF(kept); i++)
		values[i] = getenv(kept[i]) ? strdup(getenv(kept[i])) : NULL;
	if (clearenv())
		return ENOMEM;
	for (unsigned int i = 0; i < COUNT_OF(kept); i++)
		if (values[i] && setenv(kept[i], values[i], 1))
			return errno;
	return 0;
}

/*
 * As setproctitle(): moves the environment to the heap, and writes a title over the place where it
 * was and over the program's name.
 */
int do_title(struct program *p, struct options o)
{
	char *start = environ[0], *end = start;
	int n = 0;

	(void)p;
	(void)o;
	/* The strings lie one after another, but for those that were set since. */
	for (; environ[n] && (!n || environ[n] == end + 1); n++)
		end = environ[n] + strlen(environ[n]);
	for (int i = 0; i < n; i++)
		environ[i] = strdup(environ[i]);
	memset(start, 'x', (size_t)(end - start));
	snprintf(program_invocation_name, strlen(program_invocation_name) + 1, "%d", getpid());
	return 0;
}

static void ignore(int signal)
{
	(void)signal;
}

/* From now on a signal comes every "us" microseconds, and system calls are not restarted. */
int do_timer(struct program *p, struct options o)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	struct timespec interval = {.tv_nsec = 1000 * option(o, "us", 200)};
	struct sigaction action = {.sa_handler = ignore};
	timer_t timer;

	(void)p;
	if (sigaction(SIGPROF, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
		return errno;
	return timer_settime(timer, 0, &(struct itimerspec){interval, interval}, NULL) ? errno : 0;
}
