/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a start of this template would be what exec would make for a client. */
#pragma once

#include "base/message.h"
#include "template/become.h"
#include "template/proc_file.h"
#include "template/start.h"

/* Who asks for a start. Its descriptors are this process's until they are closed here. */
struct wv_client {
	int connection, proc; /* proc: of its folder in /proc, or -1 */
	pid_t pid;
	char status[WV_STATUS_BYTES]; /* in /proc */
	struct wv_surroundings around;
	int fds[WV_MESSAGE_FDS];
	unsigned int n_fds;
	struct wv_start_answer answer;
};

/*
 * Compares what the client is with what it says and what this process is, and fills in c->proc,
 * c->status and c->around. Returns 0; or 1, with the reason in c->answer.
 */
int wv_client_check(struct wv_client *c, const struct wv_started *s);
