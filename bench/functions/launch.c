/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The launcher: keeps a given number of requests in progress, starts a function for each in one of
 * three ways, and prints how many were answered per second, and how long an answer took.
 */
#include "functions.h"
#include "warmverbs-template.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 60

extern char **environ;

/* How functions are started: all at once before the first request, or one for each. */
static const struct way {
	const char *name, *function;
	enum { ONE, ALL, EACH } starts;
} ways[] = {
    {"cold", "once", EACH},
    {"warm", "kept", ALL},
    {"fork", "zygote", ONE},
};

struct options {
	const struct way *way;
	char *function, *port;
	const char *template; /* its socket, or NULL: functions are executed */
	size_t at_a_time, requests, first;
	unsigned int pause_ms;
};

struct sample {
	uint64_t sent, answered, first_completion, control;
};

static int functions; /* a socket; every function has its other end */
static char functions_side[16];

/* Its descriptors stay open: the function would be killed. */
static int start_from_template(const struct options *o, char **command)
{
	const struct wv_template_request request = {
	    .path = o->function, .argv = command, .envp = environ, .timeout_ms = PATIENCE_S * 1000};
	struct wv_template_start started;

	return wv_template_start(o->template, &request, &started);
}

static void spawn(const struct options *o)
{
	char *command[] = {o->function, (char *)o->way->function, o->port, functions_side, NULL};
	pid_t pid;
	int err = o->template ? start_from_template(o, command)
			      : posix_spawn(&pid, o->function, NULL, NULL, command, environ);

	if (err)
		give_up(err, "cannot run %s", o->function);
}

static void open_socket(int *theirs)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) || fcntl(ends[0], F_SETFD, FD_CLOEXEC) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		give_up(errno, "a socket");
	functions = ends[0];
	*theirs = ends[1];
	snprintf(functions_side, sizeof(functions_side), "%d", ends[1]);
}

static void send_request(const struct options *o, struct sample *samples, uint64_t id)
{
	struct request request = {id};

	samples[id].sent = clock_ns();
	if (send(functions, &request, sizeof(request), 0) != sizeof(request))
		give_up(errno, "sending a request");
	if (o->way->starts == EACH)
		spawn(o);
}

static void take_answer(struct sample *samples, size_t n)
{
	struct answer answer;

	if (recv(functions, &answer, sizeof(answer), 0) != sizeof(answer))
		give_up(errno, "waiting for an answer");
	if (answer.id >= n || samples[answer.id].answered)
		give_up(0, "an answer that nobody asked for");
	samples[answer.id].answered = clock_ns();
	samples[answer.id].first_completion = answer.first_completion;
	samples[answer.id].control = answer.control;
}

/* Issues requests [@from, @to), o->at_a_time of them at any time. */
static void keep_going(const struct options *o, struct sample *samples, size_t from, size_t to)
{
	size_t sent = from;

	for (size_t answered = from; answered < to; answered++) {
		while (sent < to && sent - answered < o->at_a_time)
			send_request(o, samples, sent++);
		take_answer(samples, to);
	}
}

/* One by one, with pauses, so that there is time to prepare functions. */
static void warm_up(const struct options *o, struct sample *samples)
{
	for (size_t i = 0; i < o->first; i++) {
		send_request(o, samples, i);
		take_answer(samples, o->first);
		usleep(o->pause_ms * 1000);
	}
}

static uint64_t latency(const struct sample *sample)
{
	return sample->answered - sample->sent;
}

static uint64_t to_first(const struct sample *sample)
{
	return sample->first_completion - sample->sent;
}

/* The control plane's share of that. */
static uint64_t control_permille(const struct sample *sample)
{
	return sample->control * 1000 / to_first(sample);
}

static const struct figure {
	const char *name;
	uint64_t (*of)(const struct sample *sample);
} figures[] = {
    {"latency", latency},
    {"first_completion", to_first},
    {"control_permille", control_permille},
};

static void print_figure(const struct figure *figure, const struct sample *samples, size_t n)
{
	static const size_t percentiles[] = {50, 90, 99};
	uint64_t *values = made(calloc(n, sizeof(*values)), "memory");

	for (size_t i = 0; i < n; i++)
		values[i] = figure->of(&samples[i]);
	median(values, n); /* sorts */
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(*percentiles); i++)
		printf("%s_p%zu %lu\n", figure->name, percentiles[i],
		       (unsigned long)values[(n - 1) * percentiles[i] / 100]);
	free(values);
}

static void run(const struct options *o, struct sample *samples)
{
	size_t all = o->first + o->requests;
	uint64_t begin, took;

	warm_up(o, samples);
	begin = clock_ns();
	keep_going(o, samples, o->first, all);
	took = clock_ns() - begin;
	printf("requests_in_1000_s %lu\n", (unsigned long)(o->requests * 1000000000000u / took));
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		print_figure(&figures[i], samples + o->first, o->requests);
}

static void start_all(const struct options *o)
{
	size_t n[] = {[ONE] = 1, [ALL] = o->at_a_time, [EACH] = 0};

	for (size_t i = 0; i < n[o->way->starts]; i++)
		spawn(o);
}

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	give_up(0, "there is no way '%s'", name);
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: launch [-c N] [-n REQUESTS] [-f FIRST] [-p MS] [-s SOCKET]\n"
	      "              cold|warm|fork FUNCTION PORT\n"
	      "Prints requests answered in 1000 s, and percentiles (nanoseconds).\n"
	      "  -c N         requests at a time (default: 1)\n"
	      "  -n REQUESTS  that count (default: 100)\n"
	      "  -f FIRST     requests before them, one by one (default: 4)\n"
	      "  -p MS        rest after each of these (default: 200)\n"
	      "  -s SOCKET    start them from the template that listens there\n",
	      to);
	exit(status);
}

static struct options parse(int argc, char **argv)
{
	struct options o = {.at_a_time = 1, .requests = 100, .first = 4, .pause_ms = 200};
	int c;

	while ((c = getopt(argc, argv, "c:n:f:p:s:h")) != -1) {
		switch (c) {
		case 'c':
			o.at_a_time = number(optarg, 1);
			break;
		case 'n':
			o.requests = number(optarg, 1);
			break;
		case 'f':
			o.first = number(optarg, 0);
			break;
		case 'p':
			o.pause_ms = (unsigned int)number(optarg, 0);
			break;
		case 's':
			o.template = optarg;
			break;
		default:
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
		}
	}
	if (optind + 3 != argc)
		usage(stderr, 2);
	o.way = find_way(argv[optind]);
	o.function = argv[optind + 1];
	o.port = argv[optind + 2];
	return o;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);
	struct sample *samples =
	    made(calloc(options.first + options.requests, sizeof(*samples)), "memory");
	int theirs;

	signal(SIGCHLD, SIG_IGN); /* A function that fails does not answer. */
	open_socket(&theirs);
	start_all(&options);
	run(&options, samples);
	close(functions);
	close(theirs);
	while (wait(NULL) > 0)
		;
	free(samples);
	return fflush(stdout) ? 1 : 0;
}
