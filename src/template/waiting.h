/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of a template, which waits until a client wants the program to start. */
#pragma once

#include "template/start.h"

/* Where a child comes from. */
struct wv_origin {
	pid_t supervisor;
	pid_t parent;	      /* which ends now: the supervisor is the next one */
	uint64_t set_signals; /* by the program (spy_calls.h) */
};

/*
 * In a child that has just been forked: waits for a client, and
 * becomes what that client would have executed. Returns only then, in the process that is the
 * start, which has nothing of the template any more. Otherwise the process ends: if the supervisor
 * has gone, or does not want it any longer.
 */
void wv_child_wait(const struct wv_origin *origin, struct wv_started *s);
