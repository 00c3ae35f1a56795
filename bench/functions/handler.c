/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The function behind a web server, which starts it in one of three ways: by CGI for one request,
 * by FastCGI for many, or by FastCGI as a process that forks a child for each request.
 */
#include "reading.h"

#include <errno.h>
#include <fcgiapp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER "Content-Type: text/plain\r\n\r\n"

static in_port_t port;

/* So that requests read from different places. */
static uint64_t some_id(void)
{
	static uint64_t requests;

	return (uint64_t)getpid() + requests++;
}

static void by_cgi(void)
{
	struct reader r = {0};

	reader_connect(&r, port);
	reader_read(&r, some_id());
	printf(HEADER "%d bytes\n", FUNCTION_BYTES);
}

static void answer(FCGX_Request *request, const struct reader *r)
{
	reader_read(r, some_id());
	FCGX_FPrintF(request->out, HEADER "%d bytes\n", FUNCTION_BYTES);
	FCGX_Finish_r(request);
}

static void keep(FCGX_Request *request)
{
	struct reader r = {0};

	reader_connect(&r, port);
	while (!FCGX_Accept_r(request))
		answer(request, &r);
}

static _Noreturn void child(FCGX_Request *request)
{
	struct reader r = {0};

	reader_connect(&r, port);
	answer(request, &r);
	exit(0);
}

static void fork_for_each(FCGX_Request *request)
{
	signal(SIGCHLD, SIG_IGN); /* No process waits for the children. */
	while (!FCGX_Accept_r(request)) {
		pid_t pid = fork();

		if (!pid)
			child(request);
		if (pid < 0)
			give_up(errno, "fork");
		/* The child answers; FCGX_Finish_r() would end the connection for it too. */
		close(request->ipcFd);
		request->ipcFd = -1;
		FCGX_Free(request, false);
	}
}

static void by_fastcgi(bool forks)
{
	FCGX_Request request;

	if (FCGX_Init() || FCGX_InitRequest(&request, 0, 0))
		give_up(errno, "FastCGI");
	if (forks)
		fork_for_each(&request);
	else
		keep(&request);
}

int main(int argc, char **argv)
{
	bool forks = argc == 3 && !strcmp(argv[1], "-f");

	if (argc != 2 + forks)
		give_up(0, "usage: handler [-f] SERVER-PORT\n  -f  FastCGI: fork for each request");
	port = (in_port_t)number(argv[1 + forks], 1);
	if (FCGX_IsCGI())
		by_cgi();
	else
		by_fastcgi(forks);
	return 0;
}
