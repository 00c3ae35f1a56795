/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recipe as a JSON document, as in its file, and back.
 */
#pragma once

#include "store/recipe.h"
#include "store/steps_json.h"

#define WV_RECIPE_FORMAT    1
#define WV_RECIPE_MAX_BYTES (1u << 20) /* the largest command log stays well below */

/* A new document of @recipe; NULL if memory is short. */
json_t *wv_recipe_to_json(const struct wv_recipe *recipe);

/* The same without the steps and argument vectors, of which there is only the number. */
json_t *wv_recipe_summary(const struct wv_recipe *recipe);

json_t *wv_counters_json(const struct wv_counters *counters);

/*
 * Reads what wv_recipe_to_json() wrote, trusting nothing in it, as a recipe of user @uid. 0 and
 * *@recipe, which is the caller's; -ENOMEM; or an outcome, with the reason in @why, of @capacity
 * bytes.
 */
int wv_recipe_from_json(json_t *json, uid_t uid, struct wv_recipe **recipe, char *why,
			size_t capacity);
