/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of a program that the preload traces, for `explain` and `run --summary`.
 */
#pragma once

#include "cli/launch.h"
#include "cli/summary.h"

#include <limits.h>
#include <stdio.h>

struct wv_traced_run {
	char path[PATH_MAX]; /* of the trace, while the program runs */
	int trace;	     /* descriptor; -1 before wv_traced_run_prepare() */
	int status;	     /* of the program, as of waitpid(2) */
};

/*
 * Makes the trace's file. Returns 0, or an exit code after telling the user why there is none.
 */
int wv_traced_run_prepare(struct wv_traced_run *run);

/* Runs the program to its end, and removes the file's name. Returns as wv_supervise(). */
int wv_traced_run(struct wv_traced_run *run, const struct wv_launch *launch);

/* Prints a run. 0 or -errno. */
typedef int (*wv_traced_run_print)(const struct wv_run *run, FILE *out);

/* Reads the trace, prints it with @print, and closes it. Tells the user what went wrong. */
void wv_traced_run_report(struct wv_traced_run *run, wv_traced_run_print print, FILE *out);
