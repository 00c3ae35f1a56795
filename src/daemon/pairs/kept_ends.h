/* SPDX-License-Identifier: BSD-2-Clause */
/* The ends of pairs that keepers have, and what the keepers are told of them. */
#pragma once

#include "daemon/pairs/pair_state.h"

/* 0 or -errno. */
int wv_kept_ends_start(struct wv_pairs *p);

/* Sends @note to @keeper. 0 or -errno. */
int wv_keeper_tell(const struct wv_keeper *keeper, const struct wv_pair_note *note);

/* The pair that @from asks for by @ask; NULL: memory is short. */
struct wv_kept_pair *wv_kept_end_add(struct wv_pairs *p, struct wv_keeper *keeper,
				     struct wv_peer *from, const struct wv_pair_note *ask);

void wv_kept_end_forget(struct wv_kept_pair *pair);

/* The pair @note->pair of the client's daemon @from; NULL: there is none. */
struct wv_kept_pair *wv_kept_end_find(struct wv_pairs *p, struct wv_peer *from,
				      const struct wv_pair_note *note);

/*
 * Tells the keeper @word of @pair, or else as soon as it reads again: the number of an end that it
 * keeps must not be another queue pair's before. After DROPPED the pair is forgotten.
 */
void wv_kept_end_tell(struct wv_pairs *p, struct wv_kept_pair *pair, enum wv_pair_word word);
