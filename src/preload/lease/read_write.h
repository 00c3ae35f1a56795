/* SPDX-License-Identifier: BSD-2-Clause */
/* What read() and write() do on the descriptors of a context. */
#pragma once

#include "preload/core/context.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Some providers ring their doorbell with write() on the command descriptor. The kernel allows this
 * only with the credentials of the process that opened the ufile (ib_safe_file_access(),
 * drivers/infiniband/core). The user of a leased ufile has other credentials, and so has a child of
 * fork(), which has a copy of them, and a process that has changed its own since. The same command
 * as an ioctl has no such rule.
 *
 * Returns what write(@fd, @buffer, @bytes) should return. @fd is a command descriptor of @context.
 */
ssize_t wv_doorbell(const struct wv_context *context, int fd, const void *buffer, size_t bytes);

/*
 * Events carry the user handle of the object. The daemon gave the objects of a lease handles of its
 * own. This replaces them with the program's own handles before the program sees the event.
 *
 * Returns what read(@fd, @buffer, @bytes) should return. @fd is a tracked WV_FD_EVENTS.
 */
ssize_t wv_read_event(int fd, void *buffer, size_t bytes);
