/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said to processes and to other daemons. */
#pragma once

#include "daemon/services/service_state.h"

/* Tells @process. 0; -EAGAIN if it does not read; or -errno. */
int wv_service_tell(const struct wv_service_process *process, const struct wv_service_note *note);

/*
 * Tells the daemon of @peer, which is up, and without what the word does not need. 0 or -errno.
 */
int wv_service_send(struct wv_peer *peer, const struct wv_service_note *note);

/* How many bytes of @note, which is in host order, daemons send to each other. */
size_t wv_service_note_bytes(const struct wv_service_note *note);

/* From host order to that of peers, or back. */
void wv_service_note_swap(struct wv_service_note *note);

/* Reads a message from a peer. 0 and *@note, which may be passed on; or -EPROTO: it is none. */
int wv_service_note_read(const void *body, size_t length, struct wv_service_note *note);
