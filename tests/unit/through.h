/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command log of unknown origin, through all that the daemon and the preload do with it on a fake
 * kernel. What must hold is asserted: a recipe that is made of a record can be saved and loaded,
 * and is the same then; a lease takes no more descriptors and memory than was estimated, and the
 * preload accepts it; no descriptor is left.
 */
#pragma once

#include "fixture.h"

#define THROUGH_ORIGINALS (N_FIXTURES + 1)

/* How many command logs came how far. */
extern struct through_counts {
	unsigned long records, recipes, leases, adopted;
} through_counts;

/*
 * Loads the records of programs that use the leases, and returns them: all fixtures, and one on
 * mlx5. They are valid until through_end().
 */
struct wv_cmdlog **through_begin(void);
void through_end(void);

/* Each takes @bytes, aligned, that may be a command log of its form, and may change them. */
void through_record(struct wv_cmdlog *record, size_t bytes);
void through_recipe(struct wv_cmdlog *recipe, size_t bytes);
/* This one copies them first. */
void through_lease(const void *lease, size_t bytes);
