/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as a library that is preloaded. FAILING_AT is the number of the allocation that fails;
 * FAILING_COUNTER a file of four bytes in which all processes of a run count; FAILING_BY, if set,
 * part of the path of the object whose allocations count.
 */
#include "failing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAILING_AT"), *file = getenv("FAILING_COUNTER");
	const char *by = getenv("FAILING_BY");
	int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
	void *counter = MAP_FAILED;

	if (fd < 0 || !at)
		return;
	counter = mmap(NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counter == MAP_FAILED)
		return;
	if (by)
		failing_only_by(by);
	failing_share(counter, (uint32_t)atoi(at));
}
