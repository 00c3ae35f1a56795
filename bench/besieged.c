/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small programs one after the other, in a steady rhythm: each is a forked child that gets a queue
 * pair to INIT and ends. Prints how many there were, how many had a lease, and how long each waited
 * for the daemon's answer, as a program does: at most WAIT_MS. For tools/bench siege.
 */
#include "measure.h"
#include "start.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <warmverbs.h>

#define EXPORT	  __attribute__((visibility("default")))
#define WAIT_MS	  50
#define WAIT_NS	  (WAIT_MS * UINT64_C(1000000))
#define PERIOD_NS (period_ms * UINT64_C(1000000))

/* Written by a child. */
struct report {
	uint64_t waited; /* nanoseconds; 0: the daemon was not reached */
	bool leased;
};

/* The preload's request, in a child: its connect() and sendmsg() come here. */
static const char *daemon_path;
static int daemon_sock = -1;
static uint64_t asked, answered;

/* By its common socket, or by that of this user, whose path is longer. */
static bool is_daemon(const struct sockaddr *to)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)to;

	return to->sa_family == AF_UNIX && daemon_path &&
	       !strncmp(un->sun_path, daemon_path, strlen(daemon_path));
}

EXPORT int connect(int sock, const struct sockaddr *to, socklen_t bytes)
{
	int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");

	if (is_daemon(to) && !asked) {
		daemon_sock = sock;
		asked = clock_ns();
	}
	return next(sock, to, bytes);
}

/* The answer usually comes while the program does something else. Here it is waited for. */
static void await_answer(void)
{
	struct pollfd wait = {.fd = daemon_sock, .events = POLLIN};

	if (poll(&wait, 1, WAIT_MS) == 1)
		answered = clock_ns();
}

EXPORT ssize_t sendmsg(int sock, const struct msghdr *message, int flags)
{
	ssize_t (*next)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
	ssize_t sent = next(sock, message, flags);

	if (sent > 0 && sock == daemon_sock) {
		await_answer();
		daemon_sock = -1;
	}
	return sent;
}

static bool has_lease(void)
{
	int (*query)(struct wv_status *, size_t) = dlsym(RTLD_DEFAULT, "wv_query_status");
	struct wv_status status;

	return query && !query(&status, sizeof(status)) && status.reason == WV_REASON_NONE;
}

/* An answer that came too late is none, even if the preload still took it. */
static _Noreturn void child(struct report *report)
{
	static struct start own;
	bool in_time;

	start_to_init(&own);
	in_time = answered && answered - asked <= WAIT_NS;
	report->leased = in_time && has_lease();
	report->waited = in_time ? answered - asked : asked ? WAIT_NS : 0;
	exit(0);
}

static void run_one(struct report *report)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		child(report);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		give_up(pid < 0 ? errno : 0, "a child failed");
}

static void print(const struct report *reports, size_t n)
{
	size_t leased = 0;

	for (size_t i = 0; i < n; i++) {
		leased += reports[i].leased;
		printf("wait_%zu %lu\n", i, (unsigned long)reports[i].waited);
	}
	printf("leased %zu\n", leased);
}

static void run(size_t n, unsigned int period_ms)
{
	struct report *reports = shared_memory(n * sizeof(*reports));
	uint64_t next = clock_ns();

	for (size_t i = 0; i < n; i++) {
		uint64_t now;

		run_one(&reports[i]);
		next += PERIOD_NS;
		now = clock_ns();
		if (now < next)
			usleep((useconds_t)((next - now) / 1000));
		else
			next = now; /* what is late is not made up for */
	}
	print(reports, n);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		give_up(0, "usage: besieged PROGRAMS PERIOD-MS");
	clock_ns(); /* The first call binds it. */
	daemon_path = getenv("WARMVERBS_SOCKET");
	run(number(argv[1], 1), (unsigned int)number(argv[2], 1));
	return fflush(stdout) ? 1 : 0;
}
