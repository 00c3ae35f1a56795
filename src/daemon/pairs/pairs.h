/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs as a whole: their start and end, what happens to the node meanwhile, and what other daemons
 * say.
 */
#pragma once

#include "store/recipe.h"

struct wv_pairs;
struct wv_peers_events;

/* What the peers of struct wv_pairs, which is the argument, are to tell. */
extern const struct wv_peers_events wv_pairs_of_peers;

/* 0 or -errno. */
int wv_pairs_start(struct wv_pairs *p);

/* Closes all leases with a pair. Harmless if they were not started. The connections have ended. */
void wv_pairs_stop(struct wv_pairs *p);

/*
 * The device @rdev is about to be removed, or a recipe is dropped: closes the leases at once. @p
 * may be NULL.
 */
void wv_pairs_drop_device(struct wv_pairs *p, dev_t rdev);
void wv_pairs_drop_recipe(struct wv_pairs *p, const struct wv_recipe *recipe);
