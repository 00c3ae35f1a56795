/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what a process can find out about itself, a line for each, "WHAT VALUE": so two ways to
 * start it can be compared. With a number as its first argument, ends with that exit status; with
 * "signal N", by that signal.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Where execve(2) places them, and some programs find them. */
static void say_behind(int argc, char **argv)
{
	ElfW(auxv_t) * auxv;
	char **variable = argv + argc + 1;

	printf("argv[-1] %ld, environ is %sbehind argv\n", (long)argv[-1],
	       variable == environ ? "" : "not ");
	while (*variable)
		variable++;
	for (auxv = (void *)(variable + 1); auxv->a_type != AT_NULL; auxv++)
		if (auxv->a_un.a_val != getauxval(auxv->a_type))
			printf("auxv %lu wrong\n", auxv->a_type);
	for (auxv = (void *)(variable + 1); auxv->a_type != AT_NULL; auxv++)
		printf("auxv has %lu\n", auxv->a_type);
}

static void say_arguments(int argc, char **argv)
{
	say_behind(argc, argv);
	for (int i = 0; i < argc; i++)
		printf("argv[%d] %s\n", i, argv[i]);
	printf("argv[argc] %s\n", argv[argc] ? argv[argc] : "NULL");
	for (char **variable = environ; *variable; variable++)
		printf("environ %s\n", *variable);
	printf("invocation_name %s, %s\n", program_invocation_name, program_invocation_short_name);
	printf("execfn %s\n", (const char *)getauxval(AT_EXECFN));
	printf("ids %lu %lu %lu %lu secure %lu\n", getauxval(AT_UID), getauxval(AT_EUID),
	       getauxval(AT_GID), getauxval(AT_EGID), getauxval(AT_SECURE));
}

/* Text of a file of /proc/self, with its zeros and ends of lines as they can be printed. */
static void say_file(const char *name)
{
	char path[64], text[32768];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	printf("%s ", name);
	for (ssize_t i = 0; i < n; i++)
		putchar(!text[i] ? '|' : text[i] == '\n' ? '/' : text[i]);
	printf("%s\n", n < 0 ? strerror(errno) : "");
}

static void say_link(const char *name)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/%s", name);
	n = readlink(path, target, sizeof(target));
	printf("%s %.*s\n", name, n < 0 ? 0 : (int)n, target);
}

/* Lines of /proc/self/status, but for what two processes never have in common. */
static void say_status(void)
{
	static const char *const own[] = {
	    "Vm",    "Rss",    "Pid:",	   "Tgid:",   "PPid:", "FDSize", "SigQ",   "Ngid",
	    "volun", "nonvol", "Cpu_busy", "Hugetlb", "NSpid", "NStgid", "NSpgid", "NSsid"};
	FILE *status = fopen("/proc/self/status", "re");
	char line[4096];

	while (status && fgets(line, sizeof(line), status)) {
		size_t i = 0;

		while (i < SIZE(own) && strncmp(line, own[i], strlen(own[i])) != 0)
			i++;
		if (i == SIZE(own))
			printf("status %s", line);
	}
	if (status)
		fclose(status);
}

static void say_signals(void)
{
	sigset_t set;

	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		if (!sigaction(i, NULL, &action))
			printf("signal %d %s\n", i,
			       action.sa_handler == SIG_DFL   ? "default"
			       : action.sa_handler == SIG_IGN ? "ignored"
							      : "handled");
	}
	sigpending(&set);
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&set, i) == 1)
			printf("pending %d\n", i);
}

static void say_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (!getrlimit((__rlimit_resource_t)i, &limit))
			printf("limit %d %lu %lu\n", i, limit.rlim_cur, limit.rlim_max);
	}
}

static void say_scheduling(void)
{
	struct sched_param param;
	cpu_set_t set;

	sched_getparam(0, &param);
	sched_getaffinity(0, sizeof(set), &set);
	printf("scheduling %d %d nice %d io %ld processors %d\n", sched_getscheduler(0),
	       param.sched_priority, getpriority(PRIO_PROCESS, 0),
	       syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0), CPU_COUNT(&set));
}

static void say_prctl(void)
{
	static const struct {
		const char *name;
		int get;
	} values[] = {
	    {"dumpable", PR_GET_DUMPABLE},	   {"keepcaps", PR_GET_KEEPCAPS},
	    {"timerslack", PR_GET_TIMERSLACK},	   {"securebits", PR_GET_SECUREBITS},
	    {"no_new_privs", PR_GET_NO_NEW_PRIVS}, {"thp_disable", PR_GET_THP_DISABLE},
	    {"mce_kill", PR_MCE_KILL_GET},	   {"seccomp", PR_GET_SECCOMP},
	};
	int value = 0;

	for (size_t i = 0; i < SIZE(values); i++)
		printf("%s %d\n", values[i].name, prctl(values[i].get, 0, 0, 0, 0));
	prctl(PR_GET_PDEATHSIG, &value);
	printf("pdeathsig %d\n", value);
	prctl(PR_GET_CHILD_SUBREAPER, &value);
	printf("child_subreaper %d\n", value);
}

static void say_timers(void)
{
	struct itimerval timer;

	for (int i = ITIMER_REAL; i <= ITIMER_PROF; i++) {
		getitimer((enum __itimer_which)i, &timer);
		printf("timer %d %ld %ld\n", i, timer.it_value.tv_sec, timer.it_value.tv_usec);
	}
}

static void say_descriptor(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return;
	printf("descriptor %d flags %d %#x file %lu:%lu at %ld\n", fd, fcntl(fd, F_GETFD),
	       fcntl(fd, F_GETFL), st.st_dev, st.st_ino, (long)lseek(fd, 0, SEEK_CUR));
}

/* In the order of their numbers, which tells the numbers that a new file would get, too. */
static void say_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++)
		say_descriptor(fd);
}

static void say_identity(void)
{
	char folder[PATH_MAX];
	mode_t mask = umask(0);
	stack_t stack;

	umask(mask);
	printf("cwd %s umask %o\n", getcwd(folder, sizeof(folder)), mask);
	printf("pid %s tid %s\n", getpid() == syscall(SYS_getpid) ? "right" : "wrong",
	       gettid() == getpid() ? "right" : "wrong");
	sigaltstack(NULL, &stack);
	printf("altstack %d\n", stack.ss_flags);
}

int main(int argc, char **argv)
{
	static const char *const files[] = {"cmdline",	       "environ",	"comm",
					    "cgroup",	       "oom_score_adj", "loginuid",
					    "sessionid",       "personality",	"attr/current",
					    "coredump_filter", "timerslack_ns"};
	static const char *const links[] = {"exe",     "cwd",	 "root",    "ns/cgroup",
					    "ns/ipc",  "ns/mnt", "ns/net",  "ns/pid",
					    "ns/user", "ns/uts", "ns/time", "ns/pid_for_children"};

	say_descriptors();
	say_arguments(argc, argv);
	say_identity();
	say_signals();
	say_limits();
	say_scheduling();
	say_prctl();
	say_timers();
	say_status();
	for (size_t i = 0; i < SIZE(files); i++)
		say_file(files[i]);
	for (size_t i = 0; i < SIZE(links); i++)
		say_link(links[i]);
	fflush(stdout);
	if (argc > 2 && !strcmp(argv[1], "signal"))
		raise(atoi(argv[2]));
	return argc > 1 ? atoi(argv[1]) : 0;
}
