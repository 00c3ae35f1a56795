/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the trace that the preload writes for `explain`.
 */
#pragma once

#include "wire/trace_record.h"

#include <stddef.h>

/*
 * Reads all records of the file @fd, ordered by start time, into memory that the caller frees.
 * Returns 0, -EPROTO if the file is not a trace, or another -errno.
 */
int wv_trace_read(int fd, struct wv_trace **records, size_t *n);
