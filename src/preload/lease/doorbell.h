/*
 * Some providers ring their doorbell by write() on the command descriptor. The kernel allows that
 * only with the opener's own credentials (ib_safe_file_access(), drivers/infiniband/core). The user
 * of a leased ufile never has them, nor does a child of fork(), which has a copy. The same command
 * as an ioctl has no such rule.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The result of write(@fd, @buffer, @bytes); @fd is a tracked WV_FD_COMMAND. */
ssize_t wv_doorbell(int fd, const void *buffer, size_t bytes);
