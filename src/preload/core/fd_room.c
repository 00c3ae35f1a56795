/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/fd_room.h"

#include <limits.h>
#include <poll.h>
#include <sys/resource.h>

/* A lease request has two open, and libibverbs at most four at a time while it lists devices. */
#define PLENTY 8

static rlim_t end; /* the limit on numbers when it was last looked at */

bool wv_fds_are_plenty(void)
{
	struct pollfd fds[PLENTY];
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < PLENTY)
		return false;
	end = limit.rlim_cur < INT_MAX ? limit.rlim_cur : INT_MAX;
	for (int i = 0; i < PLENTY; i++)
		fds[i] = (struct pollfd){.fd = (int)end - 1 - i};
	poll(fds, PLENTY, 0); /* tells of all numbers at once which are not open */
	for (int i = 0; i < PLENTY; i++)
		if (fds[i].revents != POLLNVAL)
			return false;
	return true;
}

bool wv_fd_is_far_from_limit(int fd)
{
	return (rlim_t)fd + PLENTY < end;
}
