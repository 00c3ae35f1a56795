/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's end of pairs, one by one. */
#pragma once

#include "daemon/pairs/pair_state.h"

/* The pool of the recipe of @edge; NULL: it is gone. */
struct wv_pool *wv_pair_pool(const struct wv_pairs *p, const struct wv_edge *edge);

/* A new pair of @edge, ASKED, for which @lease of @pool is taken. NULL: memory is short. */
struct wv_pair *wv_pair_add(struct wv_pairs *p, struct wv_edge *edge, struct wv_pool *pool,
			    struct wv_pooled_lease *lease);

/* NULL: there is none of this number. */
struct wv_pair *wv_pair_find(struct wv_pairs *p, uint64_t id);

void wv_pair_enter(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_state state);

/* Whether a program has the lease of @pair, or had it. */
static inline bool wv_pair_is_claimed(const struct wv_pair *pair)
{
	return pair->state == WV_PAIR_HANDED_OUT || pair->state == WV_PAIR_LEFT;
}

/*
 * Asks the server's daemon, with what the edge adds to @note: its addresses and its user. 0;
 * -EAGAIN if the name of the user is not known yet; or -errno.
 */
int wv_pair_ask(struct wv_pairs *p, const struct wv_edge *edge, struct wv_pair_note note);

/* Says @word of @pair to the server's daemon. */
void wv_pair_say(struct wv_pairs *p, const struct wv_pair *pair, enum wv_pair_word word,
		 enum wv_pair_why why);

/*
 * Keeps the number of the queue pair of @pair, which has its lease, from now on; the tenant of the
 * lease is charged. False: there is no descriptor left.
 */
bool wv_pair_keep_number(struct wv_pair *pair);

/* Harmless if it was not kept. */
void wv_pair_let_number_go(struct wv_pairs *p, struct wv_pair *pair);

/* Forgets @pair, and closes what it still has. */
void wv_pair_forget(struct wv_pairs *p, struct wv_pair *pair);

/*
 * Gives up @pair, which no program has. Its lease can be closed at once: the server gives its end
 * to nobody that has not claimed it.
 */
void wv_pair_drop(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_why why);

/* Forgets @pair, whose lease is as it was before, and puts that back. */
void wv_pair_put_into_pool(struct wv_pairs *p, struct wv_pair *pair);

/* A pair whose server is at @peer was used (WV_PAIR_NO_REASON), or handed out and not used. */
void wv_pair_count(struct wv_peer *peer, enum wv_pair_why why);
