/* SPDX-License-Identifier: BSD-2-Clause */
/* The libc of an image, which the hook of containers compares with what this program needs. */
#include "fuzz.h"

#include "cli/container/libc_version.h"

#include <errno.h>
#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wv_auto_fd libc = fuzz_file(data, bytes);
	wv_auto_fd self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char missing[64] = "";
	int fit = wv_libc_fits(self, libc, missing, sizeof(missing));

	assert_true(fit == WV_LIBC_FITS || fit == WV_LIBC_OTHER_MACHINE || fit == WV_LIBC_TOO_OLD ||
		    fit == -ENOEXEC || fit == -EFBIG || fit == -EINVAL);
	if (fit == WV_LIBC_TOO_OLD)
		assert_memory_equal(missing, "GLIBC_", 6);
	return 0;
}
