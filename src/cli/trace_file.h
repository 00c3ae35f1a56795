/*
 * Reading what the preload wrote for `explain`.
 */
#pragma once

#include "wire/trace_record.h"

#include <stddef.h>

/*
 * Reads all records of the file @fd, ordered by the time they began, into memory that the caller
 * frees. Returns 0, -EPROTO if that is no trace, or another -errno.
 */
int wv_trace_read(int fd, struct wv_trace **records, size_t *n);
