/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a library can be preloaded into a program.
 */
#pragma once

#include <stdbool.h>

/* What the program at @path is, if no library can be preloaded into it; NULL if one can. */
const char *wv_program_obstacle(const char *path);

/* Whether the kernel executes the file at @path itself, and no interpreter that it names. */
bool wv_program_is_elf(const char *path);
