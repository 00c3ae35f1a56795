/* SPDX-License-Identifier: BSD-2-Clause */
/* What the server's daemon says, after a pair was asked for; and what a program hears of it. */
#pragma once

#include "daemon/pairs/pair_state.h"

/* Tells the program that has @pair that the other end is gone. 0 or -errno. */
int wv_pair_tell_gone(const struct wv_pair *pair);

/* A note from the server's daemon @from, whose word is one for the client's end. */
void wv_pairs_note(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note);
