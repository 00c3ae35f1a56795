/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/ahead.h"

/* A program is put off until so many of its runs have opened a device after the first list. */
#define RUNS 8

void wv_ahead_opened(struct wv_recipe *recipe, uint32_t flags)
{
	if (flags & WV_REQUEST_LISTED)
		recipe->put_off = RUNS;
	else if (recipe->put_off)
		recipe->put_off--;
}

bool wv_ahead_puts_off(struct wv_recipe *recipe, uint32_t flags)
{
	if (flags & WV_REQUEST_AHEAD)
		return recipe->put_off;
	wv_ahead_opened(recipe, flags);
	return false;
}

void wv_ahead_in_vain(struct wv_recipe *recipe)
{
	recipe->put_off = RUNS;
}
