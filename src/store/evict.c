/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/evict.h"

/* The least used variant of @newest other than itself; NULL if there are not too many variants. */
static struct wv_recipe *surplus_variant(struct wv_user *user, const struct wv_recipe *newest)
{
	struct wv_recipe *recipe, *least = NULL;
	unsigned int n = 0;

	TAILQ_FOREACH (recipe, &user->recipes, link) {
		if (!wv_key_equal(&recipe->key, &newest->key))
			continue;
		n++;
		if (recipe != newest && (!least || recipe->counters.hits <= least->counters.hits))
			least = recipe;
	}
	return n > WV_MAX_VARIANTS ? least : NULL;
}

static struct wv_recipe *least_recent(struct wv_user *user, const struct wv_recipe *newest)
{
	struct wv_recipe *recipe = TAILQ_LAST(&user->recipes, wv_recipes);

	return recipe == newest ? TAILQ_PREV(recipe, wv_recipes, link) : recipe;
}

/* What counts: @bytes or the number of recipes. */
static uint64_t held(const struct wv_recipe_account *account, bool bytes)
{
	return bytes ? account->bytes : account->n;
}

/* The least recently used recipe of the account that has most, or of @only. */
static struct wv_recipe *of_the_largest(struct wv_catalog *c, const struct wv_recipe_account *only,
					const struct wv_recipe *newest, bool bytes)
{
	struct wv_recipe *recipe, *best = NULL;
	uint64_t most = 0;
	struct wv_user *user;

	wv_each_user (c, user) {
		uint64_t has = held(user->account, bytes);

		recipe = only && user->account != only ? NULL : least_recent(user, newest);
		if (!recipe || has < most || (has == most && best && best->used <= recipe->used))
			continue;
		best = recipe;
		most = has;
	}
	return best;
}

struct wv_recipe *wv_catalog_surplus(struct wv_catalog *c, struct wv_user *user,
				     const struct wv_recipe *newest)
{
	const struct wv_catalog_limits *limits = &c->limits;
	struct wv_recipe *variant = surplus_variant(user, newest);

	if (variant)
		return variant;
	if (user->account->n > limits->recipes_of_one)
		return of_the_largest(c, user->account, newest, false);
	if (c->all.n > limits->recipes)
		return of_the_largest(c, NULL, newest, false);
	if (c->all.bytes > limits->bytes)
		return of_the_largest(c, NULL, newest, true);
	return NULL;
}
