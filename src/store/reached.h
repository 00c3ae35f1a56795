/* SPDX-License-Identifier: BSD-2-Clause */
/* Most programs may not come to the last steps of a recipe. Then leases are made without these. */
#pragma once

#include "store/catalog.h"

/*
 * Notes that a program used the first @reached steps of a lease of @recipe. If most of the last
 * WV_RECIPE_RUNS programs did not use its last steps, a recipe without these takes its place and is
 * returned; @recipe is freed then. NULL: nothing has changed.
 */
struct wv_recipe *wv_catalog_reached(struct wv_catalog *c, struct wv_recipe *recipe,
				     unsigned int reached);
