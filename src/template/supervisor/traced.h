/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children that have asked to be traced by their parent (ptrace(2), PTRACE_TRACEME), which is the
 * supervisor. Whenever a signal comes, such a child stops; waitid(2) reports that whatever it is
 * asked for, and the oldest child first.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct wv_traced_stop {
	pid_t pid; /* of a thread */
	int signal;
};

struct wv_traced {
	struct wv_traced_stop *stops;
	size_t n, room;
};

/*
 * The pid of a child that has ended, which is to be waited for; or 0. Those that have stopped are
 * collected on the way: while they stand still, they cannot stop again and so hide the end of
 * another.
 */
pid_t wv_traced_next_end(struct wv_traced *t);

/* Those that were collected go on, and nobody traces them any more. */
void wv_traced_let_go(struct wv_traced *t);

void wv_traced_free(struct wv_traced *t);
