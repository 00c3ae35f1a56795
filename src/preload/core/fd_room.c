/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/fd_room.h"

#include <fcntl.h>
#include <sys/resource.h>

/* A lease request has two open, and libibverbs at most four at a time while it lists devices. */
#define PLENTY 8

/* The limit on numbers; 0: it is not known. */
static rlim_t limit(void)
{
	struct rlimit limits;

	return getrlimit(RLIMIT_NOFILE, &limits) ? 0 : limits.rlim_cur;
}

bool wv_fds_are_plenty(void)
{
	rlim_t end = limit();

	if (end < PLENTY)
		return false;
	for (rlim_t fd = end - PLENTY; fd < end; fd++)
		if (fcntl((int)fd, F_GETFD) >= 0)
			return false;
	return true;
}

bool wv_fd_is_far_from_limit(int fd)
{
	return (rlim_t)fd + PLENTY < limit();
}
