/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running a program under warmverbs, for `run` and `explain`.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>

struct wv_launch {
	bool lease;
	const char *socket, *name; /* NULL: keep what the environment says */
	char **program;		   /* its argument vector */
};

/* Parses the options and the program: an argp child whose input is a struct wv_launch. */
extern const struct argp wv_launch_argp;

/*
 * Gives this process the environment for the program. Returns 0, or an exit code after telling the
 * user why that failed.
 */
int wv_launch_prepare(const struct wv_launch *launch);

/*
 * Replaces this process by the program. If that fails, tells the user why and returns an exit code.
 */
int wv_launch_exec(const struct wv_launch *launch);
