/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a lease's queues, a file without a name, after others got it. The kernel charges
 * the memory to the daemon until the last of them gives it up. No event tells that, but the kernel
 * answers questions about it.
 */
#pragma once

#include <stdbool.h>

/*
 * Opens @fd, a memory file, once more. Only a file that was opened by its name counts as open for
 * writing (do_dentry_open() in fs/open.c), which wv_memory_reclaim() depends on: so neither the
 * program nor the daemon may have the descriptor that memfd_create() returned. The new descriptor,
 * or -errno.
 */
int wv_memory_open(int fd);

/*
 * Whether nobody has the memory behind @fd but the caller, who has one descriptor of it; its pages
 * are free from then on. May take a while, if somebody keeps pages without the file.
 */
bool wv_memory_reclaim(int fd);
