/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the daemon is told of a context, and when: a recording or a report never delays the
 * connection to a peer, and yet most of it is sent before a signal can end the program. Each
 * message takes the place of the one before. Call all functions with the lock of the control path
 * held, unless they say otherwise.
 */
#pragma once

#include "preload/core/context.h"

/*
 * The program is about to connect a queue pair to a peer. Notes whether the daemon is to be told
 * something once that is done.
 */
void wv_news_gather(struct wv_context *c);

/* A queue pair is connected, or is ready without a peer. Sends what changes the next run. */
void wv_news_ready(struct wv_context *c);

/*
 * The connection manager says that a queue pair of the device file @fd is connected, where the
 * kernel moves queue pairs by itself (iWARP). Takes the lock.
 */
void wv_news_established(int fd);

/* Whether there may be something to send then. */
bool wv_news_awaits_ready(const struct wv_context *c);

/* No peer waits for the program. Sends what is due. */
void wv_news_tell(struct wv_context *c);

/* Reports how many queue pairs came from spares, if there were any since the last report. */
void wv_news_spares(struct wv_context *c);

/* Sends what the daemon does not know yet, and nothing after that. Keeps errno. */
void wv_news_settle(struct wv_context *c);

/*
 * The same by no other system call than write(), and by none if everything is sent already, since a
 * sandbox may forbid it. For the end of the process: the kernel closes the socket.
 */
void wv_news_settle_at_exit(struct wv_context *c);

/* A step was recorded that may become part of the recipe. */
void wv_news_recorded(struct wv_context *c, const struct wv_command_row *row, int error);

/*
 * Whether a recording has gone on long enough. What a program does long after its first connection,
 * or very often, is not the same in each run.
 */
bool wv_news_is_enough(const struct wv_context *c);
