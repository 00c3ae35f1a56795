/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading small files of sysfs, /proc and /etc, in which anything may be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many entries of a folder are looked at, at most. */
#define WV_MAX_ENTRIES 4096

/*
 * Reads the start of the file @path, a format, with a final zero. Never waits, and reads no more
 * than fits. False, with an empty text: it cannot be read.
 */
bool wv_read_start(char *text, size_t capacity, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the first line, without its end. */
bool wv_read_line(char *text, size_t capacity, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* The number that follows @name and a colon in /proc/self/status below @root, or @otherwise. */
unsigned long long wv_own_status(const char *root, const char *name, int base,
				 unsigned long long otherwise);
