/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs are asked for, where an edge is good and a pool has leases to spare, and given up when
 * nobody claims them.
 */
#pragma once

#include "store/recipe.h"

#include <systemd/sd-event.h>

struct wv_pairs;

/* Handles the timer of the pairs. */
int wv_pairs_tick(sd_event_source *timer, uint64_t now, void *pairs);

/* Has the timer look soon. */
void wv_pairs_wake(struct wv_pairs *p);

/*
 * How many leases the pool of @recipe should have, so that one can be taken for a pair; or 0. @p
 * may be NULL.
 */
uint32_t wv_pairs_requested(const struct wv_pairs *p, const struct wv_recipe *recipe);
