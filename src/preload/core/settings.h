/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environment variables of the preload, read once, at the first use; what the program does to
 * its environment later changes nothing. See warmverbs(7). In a program that has more rights than
 * its caller, all settings have their defaults.
 */
#pragma once

#include <stdbool.h>

struct wv_settings {
	bool enabled;	      /* WARMVERBS_DISABLE is not set */
	bool lease;	      /* WARMVERBS_LEASE is not 0 */
	bool providers;	      /* the user did not choose providers with IBV_DRIVERS */
	bool spares;	      /* WARMVERBS_SPARES is not 0 */
	bool wants_spares;    /* it is set, so a process with one thread has them, too */
	bool share_mr;	      /* WARMVERBS_SHARE_MR */
	bool any_vector;      /* WARMVERBS_ANY_VECTOR */
	unsigned int prefork; /* WARMVERBS_PREFORK: sets to keep ready for children, or 0 */
	const char *socket;   /* path of the daemon's socket, or "" if it is too long */
	const char *name;     /* WARMVERBS_NAME, or "" */
	const char *trace;    /* WARMVERBS_TRACE: path of the file, or NULL */
};

const struct wv_settings *wv_settings(void);

/* The argument vector that the program was started with; NULL if unknown. */
char **wv_argv(void);

/*
 * This process starts from a template, with other arguments and another environment. Returns
 * whether all settings but the trace are as before. Call while there is one thread, before the
 * program uses the library.
 */
bool wv_settings_begin_anew(char **argv);
