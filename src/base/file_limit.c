/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file_limit.h"

#include <errno.h>

int wv_file_limit_raise(struct rlimit *before)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, before))
		return -errno;
	limit = (struct rlimit){before->rlim_max, before->rlim_max};
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}
