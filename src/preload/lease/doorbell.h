/*
 * Providers such as rxe ring their doorbell by write() on the command descriptor. The kernel lets
 * only the opener's own credentials do that (ib_safe_file_access(), drivers/infiniband/core). The
 * user of a leased ufile never has them, nor has a child of fork(), whose credentials are a copy;
 * the same command as an ioctl has no such rule.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* What write(@fd, @buffer, @bytes) is to return; @fd is a tracked WV_FD_COMMAND. */
ssize_t wv_doorbell(int fd, const void *buffer, size_t bytes);
