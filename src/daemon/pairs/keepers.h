/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What servers that keep spares say, and what they are asked for.
 *
 * Whatever a keeper says is about its own queue pairs, and is believed only of those. A peer is
 * served for a user only by the processes of the user of that name.
 */
#pragma once

#include "daemon/pairs/pair_state.h"

/*
 * A process of @uid, for which @tenant is charged, becomes a keeper, which is told what it is to
 * know by @sock. NULL: there are too many.
 */
struct wv_keeper *wv_keeper_add(struct wv_pairs *p, int sock, uid_t uid,
				const struct wv_tenant *tenant);

/*
 * The connection of @keeper ends, or has ended, and its process goes on, without what no program
 * has the other end of: it cannot be told. @keeper->end hears of the end of the process.
 */
void wv_keeper_goes_on(struct wv_pairs *p, struct wv_keeper *keeper);

/* The process has ended. */
void wv_keeper_remove(struct wv_pairs *p, struct wv_keeper *keeper);

/*
 * The daemon ends: forgets the keepers that have no connection any more, and says nothing of that.
 */
void wv_keepers_stop(struct wv_pairs *p);

/* What a keeper says. 0; or -EPROTO if no keeper says such a thing. */
int wv_keeper_says(struct wv_pairs *p, struct wv_keeper *keeper, const struct wv_pair_note *note);

/* @from asks about the connection @edge; answered now, or once a server tells of it. */
void wv_keepers_ask(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *edge);

/* A note from the client's daemon @from: ASK, or what becomes of a pair. */
void wv_keepers_note(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note);

/* The address of @gid has changed: ends that use it, and that no program has, are given up. */
void wv_keepers_moved(struct wv_pairs *p, const uint8_t gid[16]);

/*
 * The connection to @peer is lost. Its pairs stay with their keepers, since a client may have the
 * other end. But those that the server's program does not have yet are given to it no more: if the
 * node of the peer has gone, its next queue pairs have the numbers of those before.
 */
void wv_keepers_peer_down(struct wv_pairs *p, struct wv_peer *peer);

/*
 * There is a connection to @peer: asks it about pairs of peers that were lost. If its node was
 * started again, the other ends are gone.
 */
void wv_keepers_peer_up(struct wv_pairs *p, struct wv_peer *peer);
