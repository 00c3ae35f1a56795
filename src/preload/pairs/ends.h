/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ends of pairs among the young queue pairs (stock/young.h), and the shapes of which peers may
 * hear. No verb is called here, and the lock of the stock guards them.
 */
#pragma once

#include "preload/stock/stock.h"

/* Gives numbers to the shapes that have had spares, so that peers may hear of them. */
void wv_shapes_number(void);

/*
 * A queue pair of this key was connected to a GID (or otherwise: not @by_gid), and created
 * @by_request. Returns the number of the shape if the next ones are likely to be, and it has
 * a number and spares; or 0.
 */
uint64_t wv_shape_connected(const struct wv_qp_key *key, bool by_gid, bool by_request);

/* Whether a pair may be made with a spare of @shape, since its next queue pair is likely to do. */
bool wv_shape_may_pair(const struct wv_shape *shape);

/* NULL: there is no such shape any more. */
struct wv_shape *wv_shape_numbered(uint64_t number);

/* By the number of the pair; NULL: there is none. */
struct wv_young_qp *wv_end_of_pair(uint64_t pair);

/* One of which the daemon is to hear a word of @words, bits of enum wv_pair_word. NULL: none. */
struct wv_young_qp *wv_end_with_news(uint32_t words);

/* Whether any queue pair has a partner, or had; and whether there may be one more. */
bool wv_ends_any(void);
bool wv_ends_have_room(void);

/*
 * Nobody can say any more what becomes of the partners. If this process @left the daemon, they are
 * told that it has ended, so they are gone. If the daemon is gone, they are told nothing, and both
 * sides of a pair that the program has keep to it.
 */
void wv_ends_lose(bool left, uint64_t now_ms);

/*
 * A client's daemon keeps an end that no program has for less than this. So the server's end of
 * such a pair is not kept longer, though nobody says that it may be destroyed. That of an end that
 * a program has received is kept: the program may name it at any time.
 */
#define WV_ENDS_LOST_MS 120000

/* Ends that were lost for so long are WV_YOUNG_OVER. Returns whether more are to follow. */
bool wv_ends_end_lost(uint64_t now_ms);
