/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int wv_fd_off_standard(int fd)
{
	int moved =
	    fd < 0 || fd > STDERR_FILENO ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

uint64_t wv_socket_cookie(int sock)
{
	uint64_t cookie = 0;
	socklen_t bytes = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) ? 0 : cookie;
}
