/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Some providers ring their doorbell with write() on the command descriptor. The kernel allows this
 * only with the credentials of the process that opened the ufile (ib_safe_file_access(),
 * drivers/infiniband/core). The user of a leased ufile has other credentials, and so has a child of
 * fork(), which has a copy of them, and a process that has changed its own since. The same command
 * as an ioctl has no such rule.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Returns what write(@fd, @buffer, @bytes) should return. @fd is a tracked WV_FD_COMMAND. */
ssize_t wv_doorbell(int fd, const void *buffer, size_t bytes);
