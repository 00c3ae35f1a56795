/*
 * Events carry the user handle of the object. For a lease's objects that is a token of the daemon,
 * which is replaced by the program's own handle before the program sees the event.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The result of read(@fd, @buffer, @bytes); @fd is a tracked WV_FD_EVENTS. */
ssize_t wv_read_event(int fd, void *buffer, size_t bytes);
