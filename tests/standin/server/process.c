/* SPDX-License-Identifier: BSD-2-Clause */
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t hca_process_began(pid_t pid)
{
	char path[32], stat[1024], *name_end;
	unsigned long long began;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	stat[n > 0 ? n : 0] = '\0';
	/* The name is the second field, and may contain anything; the time is the 22nd. */
	name_end = strrchr(stat, ')');
	if (!name_end || sscanf(name_end + 1,
				" %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				"%*s %*s %*s %llu",
				&began) != 1)
		return 0;
	return began;
}
