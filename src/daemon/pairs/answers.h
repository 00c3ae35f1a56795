/* SPDX-License-Identifier: BSD-2-Clause */
/* What the server's daemon says, after a pair was asked for. */
#pragma once

#include "daemon/pairs/pair_state.h"

/* A note from the server's daemon @from, whose word is one for the client's end. */
void wv_pairs_note(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note);
