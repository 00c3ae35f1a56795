/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events carry the user handle of the object. The daemon gave the objects of a lease handles of its
 * own. These functions replace them with the program's own handles before the program sees the
 * event.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Returns what read(@fd, @buffer, @bytes) should return. @fd is a tracked WV_FD_EVENTS. */
ssize_t wv_read_event(int fd, void *buffer, size_t bytes);
