/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs that open an RDMA device ask of kernel and loader, but without RDMA: runs natively
 * and where instructions are counted, to see what counting gets wrong. Everything is the same in
 * both places: an empty network namespace, device nodes, memory, one processor.
 *
 * usage: calibration LIBRARY, which is loaded by dlopen()
 */
#include "measure.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS	  101
#define WARM_UPS  5
#define PAGE	  4096
#define PAGES	  64
#define RECV_SIZE 16384 /* of libnl, at its first receive */
#define MAP_SIZE  262144

static const char *library;
static int pair[2]; /* connected sockets */
static int netlink = -1;

static int checked(int result, const char *what)
{
	if (result < 0)
		give_up(errno, "%s", what);
	return result;
}

/* Each proxy returns the nanoseconds of one operation. */

static uint64_t system_call(void)
{
	uint64_t start = clock_ns();

	for (int i = 0; i < 16; i++)
		syscall(SYS_getppid);
	return (clock_ns() - start) / 16;
}

/* User code alone. */
static uint64_t look_up(void)
{
	uint64_t start = clock_ns();

	made(dlsym(RTLD_DEFAULT, "regexec"), "dlsym");
	made(dlsym(RTLD_DEFAULT, "wcsxfrm_l"), "dlsym");
	return (clock_ns() - start) / 2;
}

static uint64_t stat_device(void)
{
	struct stat found;
	uint64_t start = clock_ns();

	checked(stat("/dev/null", &found), "stat");
	return clock_ns() - start;
}

static uint64_t open_device(void)
{
	uint64_t start = clock_ns();

	close(checked(open("/dev/null", O_RDWR | O_CLOEXEC), "open"));
	return clock_ns() - start;
}

static uint64_t page_fault(void)
{
	volatile char *memory = private_memory(PAGES * PAGE);
	uint64_t start = clock_ns(), time;

	for (size_t i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
	time = clock_ns() - start;
	munmap((char *)memory, PAGES * PAGE);
	return time / PAGES;
}

static uint64_t map(void)
{
	uint64_t start = clock_ns();

	munmap(private_memory(MAP_SIZE), MAP_SIZE);
	return clock_ns() - start;
}

static uint64_t netlink_socket(void)
{
	struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	uint64_t start = clock_ns();

	netlink = checked(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), "socket");
	checked(bind(netlink, (struct sockaddr *)&any, sizeof(any)), "bind");
	return clock_ns() - start;
}

static uint64_t netlink_send(void)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg body;
	} request = {
	    .header = {sizeof(request), RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0},
	};
	uint64_t start = clock_ns();

	checked((int)send(netlink, &request, sizeof(request), 0), "send");
	return clock_ns() - start;
}

/* Into fresh memory, like libnl. */
static uint64_t netlink_recv(void)
{
	void *memory = private_memory(RECV_SIZE);
	uint64_t start = clock_ns(), time;

	checked((int)recv(netlink, memory, RECV_SIZE, 0), "recv");
	time = clock_ns() - start;
	munmap(memory, RECV_SIZE);
	close(netlink);
	return time;
}

/* A message with a descriptor, as a lease brings: sent, received, and the descriptor closed. */
static uint64_t pass_descriptor(void)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	char text[1024] = {0};
	struct iovec part = {text, sizeof(text)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	uint64_t start = clock_ns();
	int fd;

	*head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(head), &pair[0], sizeof(int));
	checked((int)sendmsg(pair[0], &message, 0), "sendmsg");
	checked((int)recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC), "recvmsg");
	head = CMSG_FIRSTHDR(&message);
	if (!head)
		give_up(0, "no descriptor arrived");
	memcpy(&fd, CMSG_DATA(head), sizeof(int));
	close(fd);
	return clock_ns() - start;
}

static uint64_t load_library(void)
{
	uint64_t start = clock_ns();
	void *loaded = dlopen(library, RTLD_NOW);

	if (!loaded)
		give_up(0, "%s", dlerror());
	dlclose(loaded);
	return clock_ns() - start;
}

static uint64_t fork_and_wait(void)
{
	uint64_t start = clock_ns();
	pid_t child = checked(fork(), "fork");
	int status;

	if (!child)
		_exit(0);
	if (waitpid(child, &status, 0) != child || status)
		give_up(0, "a child failed");
	return clock_ns() - start;
}

static const struct proxy {
	const char *name;
	uint64_t (*run)(void);
} proxies[] = {
    {"system call", system_call},
    {"dlsym", look_up},
    {"stat", stat_device},
    {"open and close of a device", open_device},
    {"anonymous page fault", page_fault},
    {"mmap and munmap of 256 KB", map},
    {"netlink socket and bind", netlink_socket},
    {"netlink dump, send", netlink_send},
    {"netlink dump, first recv", netlink_recv},
    {"message with a descriptor", pass_descriptor},
    {"dlopen and dlclose", load_library},
    {"fork, exit and wait", fork_and_wait},
};
#define PROXIES (sizeof(proxies) / sizeof(proxies[0]))

/* One processor, as where instructions are counted; no network but a loopback. */
static void isolate(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	checked(sched_setaffinity(0, sizeof(one), &one), "sched_setaffinity");
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		give_up(errno, "a network namespace");
	checked(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "socketpair");
}

int main(int argc, char **argv)
{
	static uint64_t times[PROXIES][RUNS];

	if (argc != 2)
		give_up(0, "usage: calibration LIBRARY");
	library = argv[1];
	isolate();
	for (int run = -WARM_UPS; run < RUNS; run++)
		for (size_t i = 0; i < PROXIES; i++) {
			uint64_t time = proxies[i].run();

			if (run >= 0)
				times[i][run] = time;
		}
	for (size_t i = 0; i < PROXIES; i++)
		printf("%s %lu\n", proxies[i].name, (unsigned long)median(times[i], RUNS));
	return fflush(stdout) ? 1 : 0;
}
