/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of a program that the preload traces, for `explain` and `run --summary`.
 */
#pragma once

#include "cli/summary.h"

#include <stdio.h>

/* Prints a run. 0 or -errno. */
typedef int (*wv_traced_run_print)(const struct wv_run *run, FILE *out);

/*
 * Runs the program to its end, and prints to @out with @print what was traced. Returns as
 * wv_supervise(), and tells the user what went wrong.
 */
int wv_traced_run(char **program, wv_traced_run_print print, FILE *out, int *status);
