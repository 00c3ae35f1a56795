/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process with registered memory that forks many children at once. Each child opens the device
 * and does an RDMA READ. Prints how long fork() took, and the time from there to a child's first
 * completion. An ordinary program: it knows nothing of warmverbs.
 */
#include "measure.h"
#include "start.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEGABYTE     ((size_t)1 << 20)
#define MEMORY_BYTES 8192

struct options {
	size_t children, first, megabytes;
	unsigned int pause_ms;
	bool old_kernel;
};

/* Written by parent and child. */
struct report {
	uint64_t begin, forked, completed;
};

/*
 * The kernel says over RDMA netlink that fork() copies pinned pages. Without an answer, libibverbs
 * does what older kernels need: madvise(MADV_DONTFORK).
 */
static void refuse_rdma_netlink(void)
{
#define ARGUMENT(n) offsetof(struct seccomp_data, args[n])
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(0)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(2)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_RDMA, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
#undef ARGUMENT
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		give_up(errno, "seccomp");
}

static void register_memory(size_t bytes)
{
	static struct start own;
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		give_up(errno, "memory");
	memset(memory, 'm', bytes);
	start_to_init(&own);
	start_memory(&own, memory, bytes);
}

static _Noreturn void child(struct report *report)
{
	static char memory[MEMORY_BYTES] __attribute__((aligned(4096)));
	struct start own = {0};

	start_to_init(&own);
	start_read_own(&own, memory, sizeof(memory));
	report->completed = clock_ns();
	exit(0);
}

static void fork_one(struct report *report)
{
	pid_t pid;

	report->begin = clock_ns();
	pid = fork();
	if (!pid)
		child(report);
	if (pid < 0)
		give_up(errno, "fork");
	report->forked = clock_ns();
}

static void await_children(size_t n)
{
	int status;

	while (n--)
		if (wait(&status) < 0 || status)
			give_up(0, "a child failed");
}

static uint64_t forking(const struct report *report)
{
	return report->forked - report->begin;
}

static uint64_t to_first_completion(const struct report *report)
{
	return report->completed - report->begin;
}

static void print(const char *name, uint64_t (*of)(const struct report *),
		  const struct report *reports, size_t n)
{
	uint64_t *values = made(calloc(n, sizeof(*values)), "memory");

	for (size_t i = 0; i < n; i++)
		values[i] = of(&reports[i]);
	printf("%s %lu\n", name, (unsigned long)median(values, n));
	printf("%s_most %lu\n", name, (unsigned long)values[n - 1]);
	free(values);
}

static void run(const struct options *o)
{
	struct report *reports = shared_memory((o->first + o->children) * sizeof(*reports));

	for (size_t i = 0; i < o->first; i++) {
		fork_one(reports++);
		await_children(1);
		usleep(o->pause_ms * 1000);
	}
	for (size_t i = 0; i < o->children; i++)
		fork_one(&reports[i]);
	await_children(o->children);
	print("fork", forking, reports, o->children);
	print("first_completion", to_first_completion, reports, o->children);
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: storm [-n CHILDREN] [-r MEGABYTES] [-f FIRST] [-p MS] [-o]\n"
	      "Prints nanoseconds of fork() and to a child's first completion: medians, and the "
	      "most.\n"
	      "  -n CHILDREN   forked in a row (default: 1)\n"
	      "  -r MEGABYTES  registered in the parent (default: 1)\n"
	      "  -f FIRST      children before them, one by one, which do not count (default: 4)\n"
	      "  -p MS         rest after each of these (default: 200)\n"
	      "  -o            as on kernels that do not tell whether fork() copies pinned pages\n",
	      to);
	exit(status);
}

static struct options parse(int argc, char **argv)
{
	struct options o = {.children = 1, .megabytes = 1, .first = 4, .pause_ms = 200};
	int c;

	while ((c = getopt(argc, argv, "n:r:f:p:oh")) != -1) {
		switch (c) {
		case 'n':
			o.children = number(optarg, 1);
			break;
		case 'r':
			o.megabytes = number(optarg, 1);
			break;
		case 'f':
			o.first = number(optarg, 0);
			break;
		case 'p':
			o.pause_ms = (unsigned int)number(optarg, 0);
			break;
		case 'o':
			o.old_kernel = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
		}
	}
	if (optind != argc)
		usage(stderr, 2);
	return o;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);

	clock_ns(); /* The first call binds it. */
	if (options.old_kernel)
		refuse_rdma_netlink();
	register_memory(options.megabytes * MEGABYTE);
	run(&options);
	return fflush(stdout) ? 1 : 0;
}
