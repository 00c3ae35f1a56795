/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of descriptors (getrlimit(2), RLIMIT_NOFILE). */
#pragma once

#include <sys/resource.h>

/* Raises it as far as this process may; @before is what it was. Returns 0 or -errno. */
int wv_file_limit_raise(struct rlimit *before);
