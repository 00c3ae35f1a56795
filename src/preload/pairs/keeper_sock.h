/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection by which the daemon has spares of this process connected (wire/pair.h): a
 * descriptor that the program does not know, and may close. Can be called from any thread.
 */
#pragma once

#include "wire/pair.h"

#include <stdbool.h>

/* Connects, and says what this process is. Returns the socket, which is not the caller's, or -1. */
int wv_keeper_connect(void);
void wv_keeper_disconnect(void);

/*
 * Receives a note, without waiting. 1: *@note is one; 0: there is none now; -errno: the connection
 * is of no more use.
 */
int wv_keeper_receive(struct wv_pair_note *note);

/*
 * Wakes who waits for the socket, and makes it of no more use. The daemon hears that the process
 * goes on.
 */
void wv_keeper_shut(void);

/* Whether @err, of a note, says that the daemon is gone. */
bool wv_keeper_has_lost(int err);

/*
 * Says @note, and waits up to @wait_ms if the daemon does not read. 0, or -errno: -EAGAIN if it has
 * not read.
 */
int wv_keeper_send(const struct wv_pair_note *note, int wait_ms);

/* In a forked child, with the lock of the control path held: the connection is the parent's. */
void wv_keeper_sock_forked(void);
