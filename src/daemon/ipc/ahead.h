/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests in advance. A program asks when it lists devices, so that the lease has arrived when it
 * opens one. If it frees the list instead, the lease is lost: its descriptors were sent. So a
 * program that has done this is asked to come back when it opens a device, until several of its
 * runs in a row have opened one after the first list.
 */
#pragma once

#include "store/recipe.h"

/* A program is put off until so many of its runs have opened a device after the first list. */
#define WV_AHEAD_RUNS 8

/*
 * A program that asked with @flags (enum wv_request_flag) has opened the device, and was served or
 * recorded.
 */
static inline void wv_ahead_opened(struct wv_recipe *recipe, uint32_t flags)
{
	if (flags & WV_REQUEST_LISTED)
		recipe->put_off = WV_AHEAD_RUNS;
	else if (recipe->put_off)
		recipe->put_off--;
}

/* A program has asked for a lease of @recipe, with @flags. Whether to put the program off. */
static inline bool wv_ahead_puts_off(struct wv_recipe *recipe, uint32_t flags)
{
	if (flags & WV_REQUEST_AHEAD)
		return recipe->put_off;
	wv_ahead_opened(recipe, flags);
	return false;
}

/* A program has lost a lease of @recipe, which was handed out in advance. */
static inline void wv_ahead_in_vain(struct wv_recipe *recipe)
{
	recipe->put_off = WV_AHEAD_RUNS;
}
