/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What daemons say to each other of pairs: notes, by the connections of peers; and those to this
 * node, through a queue of its own.
 */
#pragma once

#include "daemon/pairs/pair_state.h"

/*
 * Finds the other end of an edge from @gid to @peer_gid: *@peer is NULL if it is on this node.
 * False: no daemon that can be reached is there.
 */
bool wv_pair_link_find(const struct wv_pairs *p, const uint8_t gid[16], const uint8_t peer_gid[16],
		       struct wv_peer **peer);

/*
 * Whether @peer, which may be this node (NULL), is where @known is; if that was lost, it is the
 * node of @gid.
 */
bool wv_pair_link_is(const struct wv_pairs *p, const struct wv_peer *peer,
		     const struct wv_peer *known, const uint8_t gid[16]);

/* Whether @gid is @one or @other; NULL: it may be. */
bool wv_pair_gid_is_of(const uint8_t *gid, const uint8_t one[16], const uint8_t other[16]);

/*
 * Sends @note to @peer, or to this node (NULL). 0; -ENOTCONN, always of WV_LOST_PEER; -ENOBUFS if
 * many notes wait, and this one may be left out; or -errno.
 */
int wv_pair_send(struct wv_pairs *p, struct wv_peer *peer, struct wv_pair_note note);

/* From host order to that of peers, as of all that frames carry; or back. */
void wv_pair_note_swap(struct wv_pair_note *note);

/* Reads a message from a peer. 0 and *@note, which may be passed on; or -EPROTO: it is none. */
int wv_pair_note_read(uint16_t type, const void *body, size_t length, struct wv_pair_note *note);
