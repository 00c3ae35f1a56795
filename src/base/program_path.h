/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for a program, as execvp(3) and shells do it.
 */
#pragma once

#include <stddef.h>

/*
 * Writes the path of the program @name to @path, truncated to @capacity: a name with a slash as it
 * is, any other in the first of @folders, a list as in PATH (NULL: unset), that has it. 0, or
 * -ENOENT if there is no such program.
 */
int wv_program_find(const char *name, const char *folders, char *path, size_t capacity);
