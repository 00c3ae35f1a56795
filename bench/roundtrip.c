/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What requesting a lease costs a program, apart from the daemon's own work: connects to another
 * process, sends a request with a descriptor, and receives a lease of the given size with its
 * descriptors. Needs no device: the lease is empty, and the descriptors are of /dev/null.
 */
#include "measure.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LEASE_FDS 2

static uint8_t buffer[WV_WIRE_MAX];

static socklen_t make_address(struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* An abstract name leaves nothing in the file system. */
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
					    "warmverbs-bench-%d", getpid()));
}

/* Waits for a message; ends the process when the other side has closed. */
static size_t receive(int sock, int *fds, unsigned int *n_fds)
{
	struct pollfd wait = {.fd = sock, .events = POLLIN};
	ssize_t got;

	while ((got = wv_recv(sock, buffer, sizeof(buffer), fds, WV_WIRE_MAX_FDS, n_fds)) ==
	       -EAGAIN)
		poll(&wait, 1, -1);
	if (got < 0)
		give_up((int)-got, "receiving");
	return (size_t)got;
}

static void close_all(const int *fds, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
}

static _Noreturn void serve(int listener, size_t lease_bytes)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int lease_fds[LEASE_FDS] = {null, null};
	static uint8_t cmdlog[WV_CMDLOG_MAX_BYTES];
	struct wv_msg_lease lease = {.n_fds = LEASE_FDS - 1};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wv_msg_init(&lease.msg, WV_MSG_LEASE, sizeof(lease) + lease_bytes);
	for (;;) {
		int fds[WV_WIRE_MAX_FDS], sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		unsigned int n_fds;
		int err;

		if (sock < 0)
			give_up(errno, "accept");
		receive(sock, fds, &n_fds);
		err =
		    wv_send(sock, &lease, sizeof(lease), cmdlog, lease_bytes, lease_fds, LEASE_FDS);
		if (err)
			give_up(-err, "sending the lease");
		close_all(fds, n_fds);
		close(sock);
	}
}

static uint64_t ask(const struct sockaddr_un *address, socklen_t bytes, int node)
{
	struct wv_msg_request request = {0};
	int fds[WV_WIRE_MAX_FDS], err;
	unsigned int n_fds;
	uint64_t start = clock_ns();
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (sock < 0 || connect(sock, (const struct sockaddr *)address, bytes))
		give_up(errno, "connecting");
	wv_msg_init(&request.msg, WV_MSG_REQUEST, sizeof(request));
	err = wv_send(sock, &request, sizeof(request), NULL, 0, &node, 1);
	if (err)
		give_up(-err, "sending the request");
	if (!receive(sock, fds, &n_fds) || n_fds != LEASE_FDS)
		give_up(0, "the lease did not arrive");
	start = clock_ns() - start;
	close_all(fds, n_fds);
	close(sock);
	return start;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address;
	socklen_t bytes = make_address(&address);
	int node = open("/dev/null", O_RDWR | O_CLOEXEC);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	size_t n, lease_bytes;
	uint64_t *times;
	pid_t server;

	if (argc != 3)
		give_up(0, "usage: roundtrip TIMES LEASE-BYTES");
	n = number(argv[1], 1);
	lease_bytes = number(argv[2], 0);
	times = calloc(n, sizeof(*times));
	if (!times || lease_bytes > WV_CMDLOG_MAX_BYTES)
		give_up(times ? EMSGSIZE : ENOMEM, "a lease of %zu bytes, %zu times", lease_bytes,
			n);
	if (bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 8))
		give_up(errno, "the socket");
	server = fork();
	if (server < 0)
		give_up(errno, "fork");
	if (!server)
		serve(listener, lease_bytes);
	for (size_t i = 0; i < n; i++)
		times[i] = ask(&address, bytes, node);
	kill(server, SIGKILL);
	printf("round_trip %lu\n", (unsigned long)median(times, n));
	free(times);
	return fflush(stdout) ? 1 : 0;
}
