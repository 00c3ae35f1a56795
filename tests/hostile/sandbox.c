/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens a device, creates a few objects, enters a sandbox and ends.
 * usage: sandbox prctl|seccomp no-sendmsg|output-only
 *
 * prctl|seccomp: the call by which it enters; the second needs root, and announces nothing before.
 * no-sendmsg: the sandbox kills a process that calls sendmsg(). output-only: that calls anything
 * but write(), getpid() and exit_group().
 */
#include "support/check.h"

#include <infiniband/verbs.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER		    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(what)	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)
#define IS(number, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, yes, no)

static struct sock_filter no_sendmsg[] = {
    NUMBER,
    IS(SYS_sendmsg, 0, 1),
    RETURN(KILL_PROCESS),
    RETURN(ALLOW),
};

static struct sock_filter output_only[] = {
    NUMBER,
    IS(SYS_write, 3, 0),
    IS(SYS_getpid, 2, 0),
    IS(SYS_exit_group, 1, 0),
    RETURN(KILL_PROCESS),
    RETURN(ALLOW),
};

#define PROGRAM(filter)                                                                            \
	{                                                                                          \
		sizeof(filter) / sizeof(filter[0]), filter                                         \
	}

static void enter(const char *how, const char *what)
{
	struct sock_fprog narrow = PROGRAM(output_only), wide = PROGRAM(no_sendmsg);
	struct sock_fprog *program = strcmp(what, "output-only") ? &wide : &narrow;

	if (!strcmp(how, "seccomp")) {
		OK((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program));
		return;
	}
	OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program));
}

int main(int argc, char **argv)
{
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));
	struct ibv_context *context = MADE(ibv_open_device(*list));
	struct ibv_pd *pd = MADE(ibv_alloc_pd(context));

	MADE(ibv_create_cq(context, 16, NULL, NULL, 0));
	EXPECT(argc == 3 && pd);
	printf("to the sandbox\n");
	fflush(stdout);
	enter(argv[1], argv[2]);
	if (write(STDOUT_FILENO, "in the sandbox\n", 15) < 0)
		return 1;
	return 0;
}
