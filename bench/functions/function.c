/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function: connects to the memory server, reads from it by RDMA, checks the data, and answers.
 * It is started for one request, kept for many, or forked from a process that has not used RDMA.
 */
#include "reading.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int launcher; /* a socket for requests and answers */
static in_port_t port;

static void work(const struct reader *r, const struct request *request)
{
	struct answer answer = {
	    .id = request->id,
	    .first_completion = reader_read(r, request->id),
	    .control = r->control,
	};

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
	struct reader r = {0};
	struct request request;

	if (!next(&request))
		return;
	reader_connect(&r, port);
	work(&r, &request);
}

static void kept(void)
{
	struct reader r = {0};
	struct request request;

	reader_connect(&r, port);
	r.control = 0; /* It was spent before the first request. */
	while (next(&request))
		work(&r, &request);
}

static void child(const struct request *request)
{
	struct reader r = {0};

	reader_connect(&r, port);
	work(&r, request);
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
	port = (in_port_t)number(argv[2], 1);
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
