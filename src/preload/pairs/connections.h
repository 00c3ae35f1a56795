/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells the daemon to which peers the queue pairs of a lease are connected, if the daemon wants to
 * know (WV_MSG_CONNECTED, wire/pair.h). Each is told once it has reached RTS, so that connecting
 * takes no longer. Where a pair is used, the server's daemon tells the client's. Call all functions
 * with the lock of the control path held.
 */
#pragma once

#include "preload/core/passage.h"

/*
 * The daemon's answer was a lease with @flags, enum wv_answer_flag, and its pair, if any, has
 * begun.
 */
void wv_connections_begin(struct wv_context *c, uint32_t flags);

/* Whether the daemon is still to be told of any. */
bool wv_connections_are_awaited(const struct wv_context *c);

/* The kernel has executed a WV_MODIFY or WV_DESTROY command on a leased ufile. */
void wv_connections_note(const struct wv_passage *p);
