/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that is to be a template. */
#pragma once

#include "template/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What it executes. */
struct wv_template_program {
	char *const *argv;
	const char *at;	  /* where the program stops: "main" or "point" */
	char **variables; /* of its environment, besides those of this process */
	size_t n_variables;
};

struct wv_template_process {
	pid_t pid;
	int listener, control, proof, changes; /* the supervisor's ends */
	int errors;			       /* its standard error, before its stop point */
	struct rlimit files;		       /* its limit of descriptors */
};

/*
 * Starts @program, found as execvp(3) does, as a process that becomes a template at its stop point.
 * Fills in @t, except t->listener and t->files, which it takes from there. To be called before this
 * process has opened more than that. Returns 0, or -errno: also what execve(2) says; @why may say
 * more.
 */
int wv_template_spawn(struct wv_template_process *t, const struct wv_template_program *program,
		      struct wv_reason_text *why);

/*
 * What the template or one of its children says next, and the descriptor that it sends or -1, which
 * is the caller's. False if there is no more, for now or for ever.
 */
bool wv_template_hear(const struct wv_template_process *t, struct wv_control *c, int *fd);

/* @why becomes @what and the beginning of the last line on standard error, if there is one. */
void wv_template_because(const struct wv_template_process *t, const char *what,
			 struct wv_reason_text *why);
