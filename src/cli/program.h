/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a library can be preloaded into a program.
 */
#pragma once

/* What the program at @path is, if no library can be preloaded into it; NULL if one can. */
const char *wv_program_obstacle(const char *path);
