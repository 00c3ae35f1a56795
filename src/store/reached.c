/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/reached.h"

#include "base/base.h"

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

/*
 * Leaves @recipe its first @n_steps steps, without memory at their end that only later steps name.
 * No step refers to a later one, so what is left may be carried out if @recipe may.
 */
static void shorten(struct wv_cmdlog *recipe, unsigned int n_steps)
{
	struct wv_step *end = wv_cmdlog_first(recipe);
	uint16_t n = 0, left = 0;

	wv_each_step (recipe, step) {
		if (n++ == n_steps)
			break;
		if (step->class_ != WV_MEMORY) {
			end = wv_step_next(step);
			left = n;
		}
	}
	recipe->n_steps = left;
	recipe->bytes = (uint32_t)((uint8_t *)end - (uint8_t *)recipe);
}

/* A recipe of the first @n_steps steps, for the same programs; the caller's. NULL: no memory. */
static struct wv_recipe *make_shorter(const struct wv_recipe *recipe, unsigned int n_steps)
{
	wv_auto_free struct wv_cmdlog *cmdlog = malloc(recipe->cmdlog->bytes);
	struct wv_recipe *shorter;

	if (!cmdlog)
		return NULL;
	shorten(memcpy(cmdlog, recipe->cmdlog, recipe->cmdlog->bytes), n_steps);
	if (!cmdlog->n_steps ||
	    wv_recipe_new(recipe->uid, &recipe->key, &recipe->provider, cmdlog, &shorter))
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
