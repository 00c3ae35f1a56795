/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reaches peers: finds the address behind a name, connects, and tries again after a pause.
 */
#pragma once

#include "daemon/peers/local_end.h"
#include "daemon/peers/peer.h"

/* Prepares @peer for being dialled from @local. 0 or -errno. */
int wv_dialler_add(struct wv_local_end *local, struct wv_peer *peer);

/* Dials @peer now, unless that is in progress. */
void wv_dial(struct wv_peer *peer);

/*
 * An attempt failed, or the connection ended: the next attempt comes after a pause, which grows
 * with each failure. If @refused, it is long.
 */
void wv_dial_later(struct wv_peer *peer, bool refused, const char *why);

/* No attempt is made until wv_dial(). */
void wv_dial_never(struct wv_peer *peer, enum wv_peer_state state);
