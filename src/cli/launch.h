/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running a program under warmverbs, for `run` and `explain`.
 */
#pragma once

#include "cli/subcommand.h"

/*
 * Gives this process the environment for the program. Returns 0, or an exit code after telling the
 * user why that failed.
 */
int wv_launch_prepare(const struct wv_arguments *a);

/*
 * The command that runs @program from its template, or executes it. Returns a new array of strings
 * that live as long as this process, or NULL after telling the user why there is none.
 */
char **wv_launch_from_template(char **program);

/*
 * Replaces this process by the program. If that fails, tells the user why and returns an exit code.
 */
int wv_launch_exec(char **program);
