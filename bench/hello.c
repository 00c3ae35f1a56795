/* SPDX-License-Identifier: BSD-2-Clause */
#include "hello.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_US   200
#define PATIENCE_S 30

in_port_t hello_listen(in_port_t port, int backlog, int *listener)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t length = sizeof(own);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) || listen(fd, backlog) ||
	    getsockname(fd, (struct sockaddr *)&own, &length))
		give_up(errno, "listening on port %d", port);
	*listener = fd;
	return ntohs(own.sin_port);
}

int hello_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		give_up(errno, "accept");
	return fd;
}

int hello_connect(const char *address, in_port_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	uint64_t until = clock_ns() + PATIENCE_S * 1000000000ull;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		give_up(0, "'%s' is no IPv4 address", address);
	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)))
			return fd;
		if (errno != ECONNREFUSED || clock_ns() > until)
			give_up(errno, "connecting to %s, port %d", address, port);
		close(fd);
		usleep(RETRY_US);
	}
}

void hello_send(int fd, const struct hello *ours)
{
	if (send(fd, ours, sizeof(*ours), MSG_NOSIGNAL) != sizeof(*ours))
		give_up(errno, "sending to the other side");
}

bool hello_receive(int fd, struct hello *theirs)
{
	return recv(fd, theirs, sizeof(*theirs), MSG_WAITALL) == sizeof(*theirs);
}
