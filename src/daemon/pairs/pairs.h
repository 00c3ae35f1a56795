/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's end of pairs as a whole (pair_table.h): its start and end, and what happens to the
 * node meanwhile.
 */
#pragma once

#include "daemon/pairs/holder.h"
#include "store/recipe.h"

struct wv_peer;

/* 0 or -errno. */
int wv_pairs_start(struct wv_pairs *p);

/* Closes all leases with a pair. Harmless if they were not started. */
void wv_pairs_stop(struct wv_pairs *p);

/* The device @rdev is about to be removed, or a recipe is dropped: closes the leases at once. @p may be NULL. */
void wv_pairs_drop_device(struct wv_pairs *p, dev_t rdev);
void wv_pairs_drop_recipe(struct wv_pairs *p, const struct wv_recipe *recipe);

/*
 * The address of @gid has changed, on this node or another; NULL: perhaps any has. Leases that no
 * program has yet are closed, since their queue pairs keep the GID in use.
 */
void wv_pairs_moved(struct wv_pairs *p, const uint8_t gid[16]);

/* The connection to @peer is lost. Leases that no program has yet are closed. */
void wv_pairs_peer_down(struct wv_pairs *p, struct wv_peer *peer);
