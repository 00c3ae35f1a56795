/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool request that a Slurm step makes for its tasks before they start.
 */
#pragma once

#include "wire/wire.h"

struct wv_task_step {
	char *const *argv;   /* of the tasks; at least one */
	const char *folders; /* PATH of the tasks, or NULL */
	const char *name;    /* WARMVERBS_NAME of the tasks, or "" */
	uint32_t tasks;	     /* on this node; at least one */
};

/*
 * Requests a lease for each task of @step from the daemon at @socket. Waits up to WV_WAIT_MS for
 * the answer. The caller has the user's rights and the tasks' working directory. The request ends
 * with the process.
 *
 * 0, and *@state is the answer; or -errno, and there is no request: -ENOEXEC if the tasks run a
 * script, or otherwise no program of this machine; or that of wv_program_find(), open(2),
 * wv_connect() or wv_ask_pool().
 */
int wv_step_pool_request(const struct wv_task_step *step, const char *socket,
			 struct wv_msg_pool_state *state);
