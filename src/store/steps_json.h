/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command log as a JSON array of steps, and back.
 */
#pragma once

#include "cmdlog/cmdlog.h"

#include <jansson.h>

enum wv_recipe_outcome {
	WV_RECIPE_BAD = 1, /* not a recipe, or one that may not be carried out */
	WV_RECIPE_NEWER,   /* of a format that this version does not know */
};

/* A new array of all steps of @cmdlog; NULL if memory is short. */
json_t *wv_steps_to_json(struct wv_cmdlog *cmdlog);

/*
 * Reads what wv_steps_to_json() wrote, trusting nothing in it. 0 and *@cmdlog, which is the
 * caller's; -ENOMEM; or WV_RECIPE_BAD, with the reason in @why, of @capacity bytes.
 */
int wv_steps_from_json(json_t *steps, uint32_t driver_id, struct wv_cmdlog **cmdlog, char *why,
		       size_t capacity);
