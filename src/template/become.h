/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of a template becomes what a client would have executed. */
#pragma once

#include "template/start.h"

#include <sys/resource.h>
#include <sys/types.h>

/* Of a client, as /proc has it: what execve(2) leaves as it is. */
struct wv_surroundings {
	mode_t umask;
	int nice;
	uint64_t ignored; /* signals: bit N - 1 is signal N */
	struct rlimit limits[RLIM_NLIMITS];
};

/*
 * Finds them out; @status is what is in /proc/PID/status of the client. Returns 0, or -errno: ESRCH
 * if it has gone.
 */
int wv_surroundings_read(const char *status, pid_t client, struct wv_surroundings *s);

/*
 * Finds out what a start needs to know of this process, whose status is @status, before there is a
 * client. @set_signals: those that the program has set something for. Returns 0 or -errno.
 */
int wv_become_prepare(const char *status, uint64_t set_signals);

/*
 * What of these surroundings this process may not, or cannot, take over; NULL if it can have them
 * all.
 */
const char *wv_surroundings_obstacle(const struct wv_surroundings *s);

/*
 * Takes over all that a start passes on: descriptors, working directory, limits, umask, nice,
 * signals, arguments and environment (also those in /proc and in ps(1)). Descriptors of @kept, an
 * array of @n_kept, survive, at other numbers that are above those of the client and closed by
 * execve(2).
 *
 * Returns 0; or -errno, after which this process is of no use.
 */
int wv_become(const struct wv_started *s, const struct wv_surroundings *around, int *const *kept,
	      unsigned int n_kept);
