/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much memory this process may use.
 */
#pragma once

#include <stdint.h>

#define WV_CGROUP_ROOT "/sys/fs/cgroup"

/* The memory of the machine, or a limit of the process's cgroup if that is less; in bytes. */
uint64_t wv_memory_limit(void);

/*
 * The least memory.max of the cgroup @path, which begins with a slash, and of those above it, in
 * the hierarchy (cgroup version 2) that is mounted at @root; UINT64_MAX: there is none.
 */
uint64_t wv_cgroup_memory_limit(const char *root, const char *path);
