/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/reached.h"

#include "base/base.h"
#include "cmdlog/shorten.h"

#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* How many steps to keep: most of the programs used no more. */
static unsigned int wanted_steps(struct wv_recipe *recipe)
{
	qsort(recipe->reached, WV_RECIPE_RUNS, sizeof(recipe->reached[0]), by_size);
	return recipe->reached[WV_RECIPE_RUNS / 2];
}

/* A recipe of the first @n_steps steps, for the same programs; the caller's. NULL: no memory. */
static struct wv_recipe *make_shorter(const struct wv_recipe *recipe, unsigned int n_steps)
{
	wv_auto_free struct wv_cmdlog *memory = malloc(recipe->cmdlog->bytes);
	struct wv_recipe *shorter;

	if (!memory)
		return NULL;
	wv_shorten(recipe->cmdlog, n_steps, memory);
	if (!memory->n_steps ||
	    wv_recipe_new(recipe->uid, &recipe->key, &recipe->provider, memory, &shorter))
		return NULL;
	strcpy(shorter->comm, recipe->comm);
	memcpy(shorter->argv, recipe->argv, sizeof(recipe->argv));
	shorter->n_argv = recipe->n_argv;
	shorter->counters = recipe->counters;
	shorter->divergence = recipe->divergence;
	shorter->put_off = recipe->put_off;
	shorter->dirty = true;
	return shorter;
}

struct wv_recipe *wv_catalog_reached(struct wv_catalog *c, struct wv_recipe *recipe,
				     unsigned int reached)
{
	struct wv_recipe *shorter;
	unsigned int wanted;

	if (recipe->refused || !reached || reached > recipe->n_steps)
		return NULL;
	recipe->reached[recipe->n_reached++] = (uint16_t)reached;
	if (recipe->n_reached < WV_RECIPE_RUNS)
		return NULL;
	recipe->n_reached = 0;
	wanted = wanted_steps(recipe);
	shorter = wanted < recipe->n_steps ? make_shorter(recipe, wanted) : NULL;
	if (!shorter)
		return NULL;
	wv_catalog_remove(c, recipe);
	return wv_catalog_add(c, shorter);
}
