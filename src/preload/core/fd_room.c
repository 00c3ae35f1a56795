/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/fd_room.h"

#include "preload/core/fd_range.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

/* Twice what libibverbs has open at a time while it lists or opens a device. */
#define PLENTY 8

bool wv_fds_are_plenty(void)
{
	struct wv_fd_range range = WV_NO_FDS;
	int fds[PLENTY], n = 0, fd = eventfd(0, EFD_CLOEXEC);

	while (fd >= 0) {
		fds[n++] = fd;
		fd = n < PLENTY ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	}
	for (int i = 0; i < n; i++)
		wv_fd_range_close(&range, fds[i]);
	wv_fd_range_flush(&range);
	return n == PLENTY;
}

bool wv_fd_is_far_from_limit(int fd)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)fd + PLENTY < limit.rlim_cur;
}
