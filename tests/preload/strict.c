/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a program without RDMA, the library makes no system call of its own: the program's sandbox
 * would kill it.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD_NUMBER  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
/* The next statement if it is this call, else the one after that. */
#define IF_IS(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1)
#define ALLOW(number) IF_IS(number), ANSWER(SECCOMP_RET_ALLOW)

static int enter_sandbox(void)
{
	static struct sock_filter rules[] = {
	    LOAD_NUMBER,	  ALLOW(SYS_read),
	    ALLOW(SYS_write),	  ALLOW(SYS_dup),
	    ALLOW(SYS_prctl),	  ALLOW(SYS_prlimit64),
	    ALLOW(SYS_setresuid), ALLOW(SYS_unshare),
	    ALLOW(SYS_exit),	  ANSWER(SECCOMP_RET_KILL_PROCESS),
	};
	static const struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Each is one call that the library interposes. */
static int use(const int ends[2], const struct rlimit *processes)
{
	char byte = 'x';

	return write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1 || dup(ends[0]) < 0 ||
	       setrlimit(RLIMIT_NPROC, processes) || setresuid(-1, -1, -1) || unshare(0) ||
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int main(void)
{
	struct rlimit processes;
	int ends[2];

	if (!dlsym(RTLD_DEFAULT, "wv_version") || pipe(ends) || getrlimit(RLIMIT_NPROC, &processes))
		return 2;
	if (enter_sandbox()) {
		perror("seccomp(2)");
		return 77;
	}
	return (int)syscall(SYS_exit, use(ends, &processes)); /* _exit(2) uses another call */
}
