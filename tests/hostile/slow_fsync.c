/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded into a daemon: its disk takes $SLOW_FSYNC_MS milliseconds to write a file down. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd)
{
	const char *ms = getenv("SLOW_FSYNC_MS");
	long n = ms ? strtol(ms, NULL, 10) : 0;
	struct timespec rest = {.tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000};

	nanosleep(&rest, NULL);
	return (int)syscall(SYS_fsync, fd);
}
