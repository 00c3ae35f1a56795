/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of /proc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WV_STATUS_BYTES ((size_t)8 << 10) /* "Groups:" and "Mems_allowed:" can be long */
#define WV_STAT_BYTES	((size_t)1 << 10)

/*
 * All of a file in the folder @proc, as text; one that cannot be read is empty. False if it is
 * larger.
 */
bool wv_proc_read(int proc, const char *name, char *text, size_t capacity);

/* The line of a status that begins with @name and a colon, without its end; NULL: there is none. */
const char *wv_status_line(const char *status, const char *name, size_t *bytes);

/* The number in a line of a status; false if there is no such line. */
bool wv_status_number(const char *status, const char *name, int base, uint64_t *value);

/* The number in a field of a stat, counted from 1 as in proc_pid_stat(5), from 4 on. */
uint64_t wv_stat_field(const char *stat, int field);
