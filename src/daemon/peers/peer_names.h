/* SPDX-License-Identifier: BSD-2-Clause */
/* What `warmverbs peers` calls states of a peer, and mismatches. */
#pragma once

#include "daemon/peers/peer.h"

/* "up", "backing off" ...; of a mismatch: "other_peer", "attributes" ... */
const char *wv_peer_state_name(enum wv_peer_state state);
const char *wv_mismatch_name(enum wv_mismatch mismatch);
