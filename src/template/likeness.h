/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether this process and a client have the same rights, limits and surroundings. */
#pragma once

#include "base/because.h"

#include <sys/types.h>

/*
 * What a start neither passes on nor restores, as it is in this process: users, groups,
 * capabilities, filters of system calls, processors and memory nodes, namespaces, root, cgroup,
 * scheduling and what else /proc tells (docs/templates.md has the table). Kept here, because it
 * takes longer to read than to compare. Returns 0 or -errno.
 */
int wv_likeness_note(void);

/* Reads again what others may have changed in this process since then. Returns 0 or -errno. */
int wv_likeness_renew(void);

/* What was noted of the file status of this process. */
const char *wv_likeness_status(void);

struct wv_likeness_client {
	pid_t pid;
	int proc;	    /* a descriptor of its /proc/PID */
	const char *status; /* what is in /proc/PID/status */
};

/*
 * Compares a client with what was noted. Returns 0 if all is equal. Else 1, and the first
 * difference in @why.
 */
int wv_likeness_check(const struct wv_likeness_client *client, struct wv_reason_text *why);
