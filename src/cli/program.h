/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a library can be preloaded into a program.
 */
#pragma once

#include <stddef.h>

/* Writes the path of the file that execvp(@name) would run to @path. 0, or -ENOENT. */
int wv_program_find(const char *name, char *path, size_t capacity);

/* What the program at @path is, if no library can be preloaded into it; NULL if one can. */
const char *wv_program_obstacle(const char *path);
