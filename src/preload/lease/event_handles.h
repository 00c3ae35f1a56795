/*
 * Events carry the user handle that an object was made with. For a lease's objects that is a token
 * of the daemon's, which becomes what the program gave before the program sees it.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* What read(@fd, @buffer, @bytes) is to return; @fd is a tracked WV_FD_EVENTS. */
ssize_t wv_read_event(int fd, void *buffer, size_t bytes);
