/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The note beside a supervisor's socket: locked (flock(2)) as long as the socket is the
 * supervisor's. Afterwards it has the reason why there can be no template, or there is none.
 */
#pragma once

#include "base/because.h"

#include <limits.h>
#include <stdbool.h>

#define WV_NOTE_SUFFIX ".note" /* of its name, behind that of the socket */

struct wv_note {
	int fd; /* -1: not taken */
	char path[PATH_MAX];
};

/*
 * Takes the note of the socket at @socket. Returns 0 or -errno: -EADDRINUSE if a supervisor has it,
 * -ENAMETOOLONG.
 */
int wv_note_take(struct wv_note *note, const char *socket);

/* Gives it back with @reason, or, if that is NULL, removes it. Does nothing if it was not taken. */
void wv_note_give(struct wv_note *note, const char *reason);

/*
 * Whether a supervisor of the socket at @socket is of no use: one is alive, or one has found within
 * the last minute that there can be no template; then @why has the reason.
 */
bool wv_note_forbids(const char *socket, struct wv_reason_text *why);
