/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/memory_file.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int wv_memory_open(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Pages can outlive all descriptors and mappings: a ufile pins those of its queues, and a pipe can
 * hold others. The kernel forbids writing only if nobody has a page (memfd_wait_for_pins() in
 * mm/memfd.c). If it was forbidden before, nothing is known about those who only read.
 */
static bool has_pages_alone(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && !(seals & F_SEAL_WRITE) && !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
}

/*
 * The kernel grants this kind of lease only if nobody else has the file open; a mapping counts as
 * open (check_conflicting_open() in fs/locks.c). While the lease lasts, nobody can open the file
 * either: a descriptor of O_PATH may be left, and no longer keeps pages once the file is empty.
 */
bool wv_memory_reclaim(int fd)
{
	bool alone = !fcntl(fd, F_SETLEASE, F_WRLCK);

	if (!alone)
		return errno == EINVAL; /* it cannot be asked: fs.leases-enable is 0 */
	alone = has_pages_alone(fd) && !ftruncate(fd, 0);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return alone;
}
