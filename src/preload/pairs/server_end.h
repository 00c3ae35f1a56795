/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the daemon asks of this process's ends of pairs (wire/pair.h), and what it is told of them.
 * An end is a spare that is reserved for a client, and no verb is called for it. Call functions
 * with no lock held, unless they say otherwise.
 */
#pragma once

#include "wire/pair.h"

#include <stdbool.h>

/* The daemon says @note. 0; -EPROTO if no daemon says that; or another -errno of the connection. */
int wv_server_end_hear(const struct wv_pair_note *note);

/* Tells the daemon what the program's threads have noted. 0, or -errno. */
int wv_server_end_tell(void);

/*
 * The same, and of queue pairs that were connected: their own address is asked for. Finds the lost
 * ends that are to be destroyed; returns whether to look again. Only by the maker, whose lock
 * keeps the context open.
 */
bool wv_server_end_look(void);

/* The connection to the daemon is lost. Returns whether the maker is to look from time to time. */
bool wv_server_end_lose(void);

/*
 * The program destroys @object, or lacks what spares take up (NULL): gives up the ends that use it.
 * Waits for their partners, but not for long. Returns whether there were any.
 */
bool wv_server_end_withdraw(const void *object);

/* Whether there is any end of a pair. */
bool wv_server_end_any(void);
