/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>

/* An assertion that fails ends the process where it is made, so that libFuzzer shows the calls. */
__attribute__((constructor)) static void abort_on_failure(void)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
}

int fuzz_file(const void *data, size_t bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

const char *fuzz_path(int fd, char path[static 32])
{
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return path;
}

FILE *fuzz_nowhere(void)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "we");
	assert_non_null(out);
	return out;
}
