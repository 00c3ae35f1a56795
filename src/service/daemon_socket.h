/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection of this process to warmverbsd, on which services are spoken of. */
#pragma once

#include "wire/service_note.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Connects, without waiting. The socket is the caller's, and none of 0 to 2. Or -errno; -EOPNOTSUPP
 * if WARMVERBS_DISABLE is set, -ECONNREFUSED if there is no daemon.
 */
int wv_service_socket(void);

/* Sends @note, without waiting. 0 or -errno. */
int wv_service_say(int sock, const struct wv_service_note *note);

/* The same, waiting until @deadline for a daemon that does not read. -ETIMEDOUT: it did not. */
int wv_service_say_until(int sock, const struct wv_service_note *note, int64_t deadline);

/* Whether -errno @err says that the connection is of no use any more. */
bool wv_service_is_lost(int err);

/* Receives a note, without waiting. 0; -EAGAIN if there is none; or -errno: @sock is of no use. */
int wv_service_hear(int sock, struct wv_service_note *note);

/* A time of the steady clock, in milliseconds, that is @ms later than now. */
int64_t wv_service_deadline(unsigned int ms);

/* Waits until there is something to receive: 0; or -ETIMEDOUT after @deadline; or -errno. */
int wv_service_await(int sock, int64_t deadline);
