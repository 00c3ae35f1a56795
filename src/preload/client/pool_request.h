/*
 * The pool that this process asked the daemon for: a connection that stays open as long as it
 * stands. All take the lock but the last two, which are called with it held.
 */
#pragma once

#include "warmverbs.h"

/* Asks for @leases, anew or for the first time. 0 or -errno; then nothing is asked for any more. */
int wv_client_request_pool(unsigned int leases);

/* Asks for none. */
void wv_client_end_pool(void);

/* Fills in what the daemon answered last; zeros if it has ended the pool request since. */
void wv_client_pool_state(struct wv_status *status);

/* In a forked child, with the lock held: the pool request is the parent's. */
void wv_client_pool_forked(void);
