/* SPDX-License-Identifier: BSD-2-Clause */
/* The process at the other end of a socket, whatever becomes of its number. */
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/*
 * A descriptor that stands for process @pid, which connected the socket @peer, or -errno. Where the
 * kernel does not know who did, it stands for the process that has the number @pid now.
 */
static inline int wv_pidfd_of(int peer, pid_t pid)
{
	int pidfd = -1;
	socklen_t bytes = sizeof(pidfd);

	if (!getsockopt(peer, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &bytes))
		return pidfd;
	if (errno == ENOPROTOOPT)
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

static inline bool wv_pidfd_has_ended(int pidfd)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}
