/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the uverbs commands that reach the kernel: runs a program under ptrace with a seccomp
 * filter that stops it at RDMA_VERBS_IOCTL only, and reads each command from the program's memory.
 * So it sees the commands of every library in the program, however they are issued.
 */
#include "abi/names.h"
#include "measure.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_KINDS 128
#define MAX_ATTRS 64

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

struct count {
	const struct wv_command_row *row; /* NULL: unknown to warmverbs */
	uint16_t object, method;
	int qp_state; /* of WV_MODIFY, else -1 */
	unsigned int times;
};

static struct count counts[MAX_KINDS];
static size_t n_counts;

static int read_memory(pid_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0 : -1;
}

static int read_command(pid_t pid, uint64_t address, struct command *cmd)
{
	if (read_memory(pid, address, &cmd->hdr, sizeof(cmd->hdr)) ||
	    cmd->hdr.num_attrs > MAX_ATTRS)
		return -1;
	return read_memory(pid, address + sizeof(cmd->hdr), cmd->attrs,
			   cmd->hdr.num_attrs * sizeof(cmd->attrs[0]));
}

/* The state that a modify command asks for; -1 if it changes none. */
static int qp_state_of(pid_t pid, const struct command *cmd)
{
	struct ib_uverbs_modify_qp modify;

	for (unsigned int i = 0; i < cmd->hdr.num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];

		if (attr->attr_id != UVERBS_ATTR_CORE_IN || attr->len < sizeof(modify) ||
		    read_memory(pid, attr->data, &modify, sizeof(modify)))
			continue;
		return modify.attr_mask & IBV_QP_STATE ? modify.qp_state : -1;
	}
	return -1;
}

static struct count *find_count(const struct count *like)
{
	for (size_t i = 0; i < n_counts; i++)
		if (counts[i].row == like->row && counts[i].qp_state == like->qp_state &&
		    counts[i].object == like->object && counts[i].method == like->method)
			return &counts[i];
	if (n_counts == MAX_KINDS)
		give_up(0, "more than %d kinds of commands", MAX_KINDS);
	counts[n_counts] = *like;
	return &counts[n_counts++];
}

static void count_command(pid_t pid, uint64_t address)
{
	struct command cmd;
	struct count like = {.qp_state = -1};

	if (read_command(pid, address, &cmd))
		return;
	like.object = cmd.hdr.object_id;
	like.method = cmd.hdr.method_id;
	like.row = wv_abi_find(WV_ANY_DRIVER, like.object, like.method, wv_abi_write_cmd(&cmd.hdr));
	if (like.row && like.row->class_ == WV_MODIFY)
		like.qp_state = qp_state_of(pid, &cmd);
	find_count(&like)->times++;
}

static void print_count(FILE *to, const struct count *count)
{
	static const char *const states[] = {"reset", "init", "rtr", "rts", "sqd", "sqe", "err"};

	if (!count->row)
		fprintf(to, "%u object_%u_method_%u unknown\n", count->times, count->object,
			count->method);
	else if (count->qp_state >= 0 && count->qp_state <= IBV_QPS_ERR)
		fprintf(to, "%u %s_to_%s %s\n", count->times, count->row->name,
			states[count->qp_state], wv_class_name(count->row->class_));
	else
		fprintf(to, "%u %s %s\n", count->times, count->row->name,
			wv_class_name(count->row->class_));
}

/* Stops at RDMA_VERBS_IOCTL; everything else runs at full speed. */
static void install_filter(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RDMA_VERBS_IOCTL, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		give_up(errno, "this kernel allows no seccomp filter");
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		give_up(errno, "fork");
	if (pid)
		return pid;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		give_up(errno, "ptrace is not allowed here");
	raise(SIGSTOP);
	install_filter();
	execvp(command[0], command);
	give_up(errno, "cannot run %s", command[0]);
}

/* The signal to send to a stopped thread when it continues. */
static int handle_stop(pid_t pid, int status)
{
	struct __ptrace_syscall_info info;
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_SECCOMP) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0)
			count_command(pid, info.seccomp.args[2]);
		return 0;
	}
	/* Every new thread begins with a stop that ptrace causes, not the program. */
	return event || signal == SIGSTOP ? 0 : signal;
}

/* Follows all threads and children; returns how @first ended. */
static int follow(pid_t first)
{
	int status, result = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			ptrace(PTRACE_CONT, pid, NULL, handle_stop(pid, status));
			continue;
		}
		if (pid == first)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

static void follow_from_start(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		give_up(0, "the program was not stopped at its start");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
		       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		give_up(errno, "ptrace");
	ptrace(PTRACE_CONT, pid, NULL, 0);
}

int main(int argc, char **argv)
{
	int status;
	FILE *to;
	pid_t pid;

	if (argc < 3)
		give_up(0, "usage: commands FILE PROGRAM [ARGUMENT...]");
	pid = start(argv + 2);
	follow_from_start(pid);
	status = follow(pid);
	to = fopen(argv[1], "w");
	if (!to)
		give_up(errno, "cannot write %s", argv[1]);
	for (size_t i = 0; i < n_counts; i++)
		print_count(to, &counts[i]);
	if (fclose(to))
		give_up(errno, "cannot write %s", argv[1]);
	return status;
}
