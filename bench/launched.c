/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a program that says at which time of clock_ns() it had its first completion, and prints
 * how long that was after the start, and how long the program took to its end. Or starts any
 * program many times, one after the other, and prints how many there were in a time.
 */
#include "measure.h"
#include "warmverbs-template.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS    5000
#define NOT_EXECUTED 127
#define STACK_BYTES  (64 << 10)
#define WARM_UP	     50 /* starts that do not count */

extern char **environ;

struct execution {
	char **command;
	int output;
	uint64_t *began;
};

static int in_child(void *data)
{
	const struct execution *e = data;

	dup2(e->output, STDOUT_FILENO);
	*e->began = clock_ns();
	execve(e->command[0], e->command, environ);
	return NOT_EXECUTED;
}

/* As posix_spawn(3) does. What making a process takes is not the program's start. */
static int execute(char **command, int output, uint64_t *began)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	struct execution e = {command, output, began};
	int status;
	pid_t pid = clone(in_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &e);

	close(output);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		give_up(errno, "cannot run %s", command[0]);
	return status;
}

static int start(const char *socket, char **command, int output, uint64_t *began)
{
	const int fds[] = {STDIN_FILENO, output, STDERR_FILENO};
	const struct wv_template_request request = {
	    .path = command[0],
	    .argv = command,
	    .envp = environ,
	    .fds = fds,
	    .n_fds = 3,
	    .timeout_ms = ANSWER_MS,
	};
	struct wv_template_start started;
	int err, status;

	*began = clock_ns();
	err = wv_template_start(socket, &request, &started);
	close(output);
	if (err)
		give_up(err, "%s was not started from its template: %s", command[0], started.why);
	err = wv_template_wait(&started, &status);
	if (err)
		give_up(err, "how %s ended", command[0]);
	wv_template_close(&started);
	return status;
}

/* Until its end; closes @output. */
static void run(const char *socket, char **command, int output, uint64_t *began)
{
	int status =
	    socket ? start(socket, command, output, began) : execute(command, output, began);

	if (status)
		give_up(0, "%s has ended with status %d", command[0], status);
}

/* Returns the nanoseconds that this takes. */
static uint64_t run_often(const char *socket, char **command, unsigned long times)
{
	uint64_t began = clock_ns(), unused;

	while (times--)
		run(socket, command, open("/dev/null", O_WRONLY | O_CLOEXEC), &unused);
	return clock_ns() - began;
}

static void print_rate(const char *socket, char **command, unsigned long times)
{
	run_often(socket, command, WARM_UP);
	printf("starts_in_1000_s %lu\n",
	       (unsigned long)(times * 1000000000000u / run_often(socket, command, times)));
}

/* The value of the line that a program has written. */
static uint64_t read_time(int from)
{
	static const char name[] = "first_completion ";
	char text[256];
	ssize_t n = read(from, text, sizeof(text) - 1);
	const char *at;

	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	if (!at)
		give_up(0, "the program had no first completion: %s", text);
	return strtoull(at + strlen(name), NULL, 10);
}

static void print_times(const char *socket, char **command)
{
	uint64_t began = 0, ended;
	int output[2];

	if (pipe(output))
		give_up(errno, "a pipe");
	run(socket, command, output[1], &began);
	ended = clock_ns();
	printf("first_completion %lu\nend %lu\n", (unsigned long)(read_time(output[0]) - began),
	       (unsigned long)(ended - began));
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: launched [-s SOCKET] [-n STARTS] PROGRAM [ARGUMENT...]\n"
	      "Prints the nanoseconds from the start of PROGRAM to its first completion and to its "
	      "end.\n"
	      "  -s SOCKET  start it from the template that listens there\n"
	      "  -n STARTS  start it so often, and print how many starts there are in 1000 s\n",
	      to);
	exit(status);
}

int main(int argc, char **argv)
{
	const char *socket = NULL;
	unsigned long times = 0;
	int c;

	while ((c = getopt(argc, argv, "+s:n:h")) != -1) {
		if (c == 's')
			socket = optarg;
		else if (c == 'n')
			times = number(optarg, 1);
		else
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	if (optind == argc)
		usage(stderr, 2);
	if (times)
		print_rate(socket, argv + optind, times);
	else
		print_times(socket, argv + optind);
	return 0;
}
