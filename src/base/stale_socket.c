/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/stale_socket.h"

#include "base/base.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* 0 if nobody answers at @to, -EADDRINUSE if somebody does, or -errno if that is not known. */
static int probe(const struct sockaddr_un *to)
{
	wv_auto_fd sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return -errno;
	if (!connect(sock, (const struct sockaddr *)to, sizeof(*to)) || errno == EAGAIN ||
	    errno == EPROTOTYPE)
		return -EADDRINUSE;
	return errno == ECONNREFUSED || errno == ENOENT ? 0 : -errno;
}

int wv_stale_socket_clear(const struct sockaddr_un *at)
{
	struct stat st;
	int err = probe(at);

	if (err)
		return err;
	if (lstat(at->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(at->sun_path) ? -errno : 0;
}
