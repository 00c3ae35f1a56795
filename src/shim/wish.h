/*
 * The pool that this process asked the daemon for: a connection that stays open as long as it
 * stands. All take the lock but the last two, which are called with it held.
 */
#pragma once

#include "warmverbs.h"

/* Asks for @leases, anew or for the first time. 0 or -errno; then nothing is asked for any more. */
int wv_wish(unsigned int leases);

/* Asks for none. */
void wv_wish_end(void);

/* Fills in what the daemon answered last; zeros if it has ended the wish since. */
void wv_wish_state(struct wv_status *status);

/* In a forked child: the wish is the parent's. */
void wv_wish_forget(void);

/* The program closed @fd, which may be the connection: the wish has ended. */
void wv_wish_forget_fd(int fd);
