/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function: connects to the memory server, reads from it by RDMA, checks the data, and answers.
 * It is started for one request, kept for many, or forked from a process that has not used RDMA.
 */
#include "functions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int launcher; /* a socket for requests and answers */
static in_port_t port;

/* A function that is connected. */
struct function {
	struct start start;
	struct ibv_mr *mr;
	struct start_remote memory;
	uint64_t control;
};

static int connect_to_server(void)
{
	struct sockaddr_in to = {
	    .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = port,
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		give_up(errno, "connecting to the memory server");
	return fd;
}

/* The connection stays open: when it closes, the server knows that the function has ended. */
static struct hello exchange(const struct hello *ours)
{
	struct hello theirs;
	int fd = connect_to_server();

	if (send(fd, ours, sizeof(*ours), MSG_NOSIGNAL) != sizeof(*ours) ||
	    recv(fd, &theirs, sizeof(theirs), MSG_WAITALL) != sizeof(theirs))
		give_up(errno, "the memory server does not answer");
	return theirs;
}

static void get_ready(struct function *f)
{
	static uint8_t buffer[FUNCTION_BYTES] __attribute__((aligned(FUNCTION_BYTES)));
	uint64_t begin = clock_ns(), talked;
	struct loopback own;
	struct hello hello = {0};

	start_to_init(&f->start);
	f->mr = start_memory(&f->start, buffer, sizeof(buffer));
	loopback_init(&own, f->start.context, START_GID_INDEX);
	hello.peer = peer_of(f->start.qp, &own);
	talked = clock_ns();
	hello = exchange(&hello);
	talked = clock_ns() - talked;
	f->memory = hello.memory;
	modify_to_rtr_with(f->start.qp, &own, &hello.peer);
	modify_to_rts(f->start.qp);
	f->control = clock_ns() - begin - talked;
}

static void check(const uint8_t *bytes, uint64_t offset)
{
	for (uint64_t i = 0; i < FUNCTION_BYTES; i++)
		if (bytes[i] != server_byte(offset + i))
			give_up(0, "byte %lu of the server's memory is wrong",
				(unsigned long)(offset + i));
}

static void work(const struct function *f, const struct request *request)
{
	uint64_t offset = request->id * FUNCTION_BYTES % SERVER_BYTES;
	struct start_remote from = {f->memory.address + offset, f->memory.key};
	struct answer answer = {.id = request->id};

	start_read(&f->start, f->mr, from);
	answer.first_completion = clock_ns();
	answer.control = f->control;
	check(f->mr->addr, offset);
	memset(f->mr->addr, 0, FUNCTION_BYTES);
	if (send(launcher, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
		give_up(errno, "answering");
}

/* False: no more requests will come. */
static bool next(struct request *request)
{
	ssize_t got = recv(launcher, request, sizeof(*request), 0);

	if (got < 0)
		give_up(errno, "taking a request");
	return got == sizeof(*request);
}

static void once(void)
{
	struct function f = {0};
	struct request request;

	if (!next(&request))
		return;
	get_ready(&f);
	work(&f, &request);
}

static void kept(void)
{
	struct function f = {0};
	struct request request;

	get_ready(&f);
	f.control = 0; /* It was spent before the first request. */
	while (next(&request))
		work(&f, &request);
}

static void child(const struct request *request)
{
	struct function f = {0};

	get_ready(&f);
	work(&f, request);
	exit(0);
}

static void zygote(void)
{
	struct request request;

	signal(SIGCHLD, SIG_IGN); /* No process waits for the children. */
	while (next(&request)) {
		pid_t pid = fork();

		if (!pid)
			child(&request);
		if (pid < 0)
			give_up(errno, "fork");
	}
}

static const struct way {
	const char *name;
	void (*run)(void);
} ways[] = {{"once", once}, {"kept", kept}, {"zygote", zygote}};

int main(int argc, char **argv)
{
	if (argc != 4)
		give_up(0, "usage: function once|kept|zygote SERVER-PORT LAUNCHER-DESCRIPTOR");
	port = htons((in_port_t)number(argv[2], 1));
	launcher = (int)number(argv[3], 0);
	clock_ns(); /* The first call binds it. */
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		ways[i].run();
		return 0;
	}
	give_up(0, "functions do not start by '%s'", argv[1]);
}
