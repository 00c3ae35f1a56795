/*
 * Running a program under warmverbs: what `run` and `explain` have in common.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>

struct wv_launch {
	bool lease;
	const char *socket, *name; /* NULL: as the environment says */
	char **program;		   /* its argument vector */
};

/* The options and the program; an argp child whose input is a struct wv_launch. */
extern const struct argp wv_launch_argp;

/*
 * Changes the environment of this process to the one that the program is to have. 0, or the exit
 * code after the user was told why.
 */
int wv_launch_prepare(const struct wv_launch *launch);

/* Becomes the program. Returns the exit code, after a word to the user, if that is impossible. */
int wv_launch_exec(const struct wv_launch *launch);
