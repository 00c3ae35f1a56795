/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a program without RDMA, the library makes no system call of its own: the program's sandbox
 * would kill it. Each call that it interposes is made in a sandbox that allows that one alone.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_SANDBOX = 77 };

static int ends[2]; /* of a pipe with a byte in it */
static struct rlimit processes;
static char byte = 'x';

static int call_read(void)
{
	return read(ends[0], &byte, 1) != 1;
}

static int call_write(void)
{
	return write(ends[1], &byte, 1) != 1;
}

static int call_dup(void)
{
	return dup(ends[0]) < 0;
}

static int call_setrlimit(void)
{
	return setrlimit(RLIMIT_NPROC, &processes);
}

static int call_setresuid(void)
{
	return setresuid(-1, -1, -1);
}

static int call_unshare(void)
{
	return unshare(0);
}

static int call_prctl(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static const struct {
	const char *name;
	unsigned int number;
	int (*call)(void);
} calls[] = {
    {"read", SYS_read, call_read},
    {"write", SYS_write, call_write},
    {"dup", SYS_dup, call_dup},
    {"setrlimit", SYS_prlimit64, call_setrlimit},
    {"setresuid", SYS_setresuid, call_setresuid},
    {"unshare", SYS_unshare, call_unshare},
    {"prctl", SYS_prctl, call_prctl},
};

/* The two that are allowed skip the answer for all others. */
static int enter_sandbox(unsigned int number)
{
	struct sock_filter rules[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* The status of a child that makes the call and ends by a call that is allowed, too. */
static int try(size_t i)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (enter_sandbox(calls[i].number))
			_exit(NO_SANDBOX);
		syscall(SYS_exit, calls[i].call());
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(void)
{
	int failed = 0;

	if (!dlsym(RTLD_DEFAULT, "wv_version") || pipe(ends) || write(ends[1], &byte, 1) != 1 ||
	    getrlimit(RLIMIT_NPROC, &processes))
		return 2;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		int status = try(i);

		if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SANDBOX) {
			printf("this kernel has no filters of system calls (seccomp(2))\n");
			return NO_SANDBOX;
		}
		if (status)
			fprintf(stderr, "%s: status %#x\n", calls[i].name, (unsigned int)status);
		failed |= status;
	}
	return failed != 0;
}
