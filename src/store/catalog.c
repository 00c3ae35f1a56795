/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/catalog.h"

#include <stdlib.h>

#define PATIENCE_GROWTH 8
#define PATIENCE_MOST	4096
#define LATE_PATIENCE	8 /* runs that diverge late count as one that diverges early */

void wv_catalog_init(struct wv_catalog *c, const struct wv_catalog_limits *limits,
		     const struct wv_catalog_owner *owner)
{
	*c = (struct wv_catalog){.limits = *limits, .owner = *owner};
	LIST_INIT(&c->users);
}

static void free_user(struct wv_catalog *c, struct wv_user *user)
{
	LIST_REMOVE(user, link);
	c->owner.leave(c->owner.arg, user);
	free(user);
}

void wv_catalog_finish(struct wv_catalog *c)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	while ((user = LIST_FIRST(&c->users))) {
		while ((recipe = TAILQ_FIRST(&user->recipes))) {
			TAILQ_REMOVE(&user->recipes, recipe, link);
			wv_recipe_free(recipe);
		}
		free_user(c, user);
	}
}

struct wv_user *wv_catalog_user(struct wv_catalog *c, uid_t uid, bool make)
{
	struct wv_user *user;

	LIST_FOREACH (user, &c->users, link)
		if (user->uid == uid)
			return user;
	user = make ? calloc(1, sizeof(*user)) : NULL;
	if (!user)
		return NULL;
	user->uid = uid;
	TAILQ_INIT(&user->recipes);
	if (!c->owner.join(c->owner.arg, user)) {
		free(user);
		return NULL;
	}
	LIST_INSERT_HEAD(&c->users, user, link);
	return user;
}

void wv_catalog_tidy_user(struct wv_catalog *c, struct wv_user *user)
{
	if (!user->n_recipes && !user->n_clients)
		free_user(c, user);
}

struct wv_recipe *wv_catalog_find(struct wv_catalog *c, uid_t uid, uint64_t id)
{
	struct wv_user *user = wv_catalog_user(c, uid, false);
	struct wv_recipe *recipe;

	if (!user)
		return NULL;
	TAILQ_FOREACH (recipe, &user->recipes, link)
		if (recipe->id == id)
			return recipe;
	return NULL;
}

/* Has, among others, all recipes of @key. */
static struct wv_key_bucket *bucket_of(struct wv_user *user, const struct wv_key *key)
{
	return &user->by_key[wv_key_hash(key) % WV_KEY_BUCKETS];
}

static struct wv_recipe *find_equal(struct wv_user *user, const struct wv_recipe *like)
{
	struct wv_recipe *recipe;

	LIST_FOREACH (recipe, bucket_of(user, &like->key), key_link)
		if (wv_recipe_equal(recipe, like))
			return recipe;
	return NULL;
}

static void charge(struct wv_recipe_account *account, const struct wv_recipe *recipe)
{
	account->n++;
	account->bytes += wv_recipe_bytes(recipe);
}

static void uncharge(struct wv_recipe_account *account, const struct wv_recipe *recipe)
{
	account->n--;
	account->bytes -= wv_recipe_bytes(recipe);
}

static void insert(struct wv_catalog *c, struct wv_user *user, struct wv_recipe *recipe)
{
	struct wv_recipe *other;

	recipe->success = ++c->successes;
	TAILQ_FOREACH (other, &user->recipes, link)
		if (other->used <= recipe->used)
			break;
	if (other)
		TAILQ_INSERT_BEFORE(other, recipe, link);
	else
		TAILQ_INSERT_TAIL(&user->recipes, recipe, link);
	LIST_INSERT_HEAD(bucket_of(user, &recipe->key), recipe, key_link);
	user->n_recipes++;
	charge(user->account, recipe);
	charge(&c->all, recipe);
}

/* The least used variant of @newest other than itself; NULL if there are not too many variants. */
static struct wv_recipe *surplus_variant(struct wv_user *user, const struct wv_recipe *newest)
{
	struct wv_recipe *recipe, *least = NULL;
	unsigned int n = 0;

	LIST_FOREACH (recipe, bucket_of(user, &newest->key), key_link) {
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

/*
 * The recipe that must go, now that @newest of @user was added; NULL if the limits are kept. Beyond
 * the limits of all recipes it is one of whoever has most: nobody who has less loses any to those
 * who record much.
 */
static struct wv_recipe *find_surplus(struct wv_catalog *c, struct wv_user *user,
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

/* Other users than @user that have nothing left are freed. */
static void make_room(struct wv_catalog *c, struct wv_user *user, const struct wv_recipe *newest)
{
	struct wv_recipe *surplus;

	while ((surplus = find_surplus(c, user, newest))) {
		struct wv_user *of = wv_catalog_user(c, surplus->uid, false);

		wv_catalog_remove(c, surplus);
		if (of != user)
			wv_catalog_tidy_user(c, of);
	}
}

struct wv_recipe *wv_catalog_add(struct wv_catalog *c, struct wv_recipe *recipe)
{
	struct wv_user *user = wv_catalog_user(c, recipe->uid, true);
	struct wv_recipe *equal = user ? find_equal(user, recipe) : NULL;

	if (!user || equal || wv_catalog_find(c, recipe->uid, recipe->id)) {
		wv_recipe_free(recipe);
		return equal;
	}
	insert(c, user, recipe);
	make_room(c, user, recipe);
	return recipe;
}

void wv_catalog_remove(struct wv_catalog *c, struct wv_recipe *recipe)
{
	struct wv_user *user = wv_catalog_user(c, recipe->uid, false);

	c->owner.drop(c->owner.arg, recipe);
	TAILQ_REMOVE(&user->recipes, recipe, link);
	LIST_REMOVE(recipe, key_link);
	user->n_recipes--;
	uncharge(user->account, recipe);
	uncharge(&c->all, recipe);
	wv_recipe_free(recipe);
}

static bool is_fit(const struct wv_recipe *recipe)
{
	return !recipe->refused && !recipe->unfit;
}

static void list_variants(struct wv_user *user, const struct wv_key *key,
			  struct wv_variants *variants)
{
	struct wv_recipe *recipe;

	variants->n = 0;
	LIST_FOREACH (recipe, bucket_of(user, key), key_link)
		if (variants->n < WV_MAX_VARIANTS && wv_key_equal(&recipe->key, key))
			variants->all[variants->n++] = recipe;
}

/*
 * The variant that @argv is known to need, or NULL. *@best is the fit variant that succeeded last,
 * or NULL; it is meant for the case that there is no exact one.
 */
static struct wv_recipe *exact_of(const struct wv_variants *variants, uint64_t argv,
				  struct wv_recipe **best)
{
	*best = NULL;
	for (unsigned int i = 0; i < variants->n; i++) {
		struct wv_recipe *recipe = variants->all[i];

		if (wv_recipe_argv(recipe, argv))
			return recipe;
		if (is_fit(recipe) && (!*best || recipe->success > (*best)->success))
			*best = recipe;
	}
	return NULL;
}

static struct wv_recipe *exact_variant(struct wv_user *user, const struct wv_key *key,
				       uint64_t argv, struct wv_recipe **best)
{
	struct wv_variants variants;

	list_variants(user, key, &variants);
	return exact_of(&variants, argv, best);
}

/* Whether the program is to record again. If so, its patience grows. */
static bool take_turn_to_record(struct wv_recipe *recipe, struct wv_argv *argv)
{
	if (argv->divergent + argv->late / LATE_PATIENCE < argv->patience)
		return false;
	argv->divergent = argv->late = 0;
	if (argv->patience < PATIENCE_MOST)
		argv->patience *= PATIENCE_GROWTH;
	recipe->stale = true;
	return true;
}

enum wv_choice wv_catalog_choose(struct wv_catalog *c, uid_t uid, const struct wv_key *key,
				 uint64_t argv, struct wv_recipe **recipe)
{
	struct wv_user *user = wv_catalog_user(c, uid, false);
	struct wv_recipe *exact, *best;

	if (!user)
		return WV_CHOICE_RECORD;
	exact = exact_variant(user, key, argv, &best);
	*recipe = exact ? exact : best;
	if (exact && take_turn_to_record(exact, wv_recipe_argv(exact, argv)))
		return WV_CHOICE_RECORD;
	if (exact)
		return is_fit(exact) ? WV_CHOICE_SERVE : WV_CHOICE_UNFIT;
	return best ? WV_CHOICE_SERVE : WV_CHOICE_RECORD;
}

void wv_catalog_variants(struct wv_catalog *c, const struct wv_recipe *recipe,
			 struct wv_variants *variants)
{
	list_variants(wv_catalog_user(c, recipe->uid, false), &recipe->key, variants);
}

struct wv_recipe *wv_variant_for(const struct wv_variants *variants, uint64_t argv)
{
	struct wv_recipe *best;
	struct wv_recipe *exact = exact_of(variants, argv, &best);

	return exact ? exact : best;
}

void wv_catalog_touch(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t now)
{
	struct wv_user *user = wv_catalog_user(c, recipe->uid, false);

	recipe->used = now;
	recipe->stale = true;
	TAILQ_REMOVE(&user->recipes, recipe, link);
	TAILQ_INSERT_HEAD(&user->recipes, recipe, link);
}

void wv_catalog_recorded(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t argv)
{
	struct wv_user *user = wv_catalog_user(c, recipe->uid, false);
	struct wv_recipe *best;
	struct wv_recipe *before = exact_variant(user, &recipe->key, argv, &best);
	uint32_t patience = before ? wv_recipe_argv(before, argv)->patience : 1;
	struct wv_argv *entry;

	if (before && before != recipe) {
		wv_recipe_remove_argv(before, argv);
		before->dirty = true;
	}
	entry = wv_recipe_add_argv(recipe, argv);
	entry->divergent = entry->late = 0;
	entry->patience = patience;
	recipe->success = ++c->successes;
	recipe->counters.records++;
	recipe->unfit = false;
	recipe->dirty = true;
}

void wv_catalog_served(struct wv_catalog *c, struct wv_recipe *recipe, uint64_t argv,
		       enum wv_outcome outcome)
{
	struct wv_user *user = wv_catalog_user(c, recipe->uid, false);
	struct wv_recipe *best;
	struct wv_recipe *exact = exact_variant(user, &recipe->key, argv, &best);
	struct wv_argv *entry;

	recipe->stale = true;
	if (outcome != WV_DIVERGED)
		recipe->success = ++c->successes;
	if (exact && exact != recipe)
		return; /* recorded again since the lease was handed out */
	entry = wv_recipe_add_argv(recipe, argv);
	entry->divergent += outcome == WV_DIVERGED;
	entry->late += outcome == WV_DIVERGED_LATE;
	if (outcome == WV_FIT)
		entry->divergent = entry->late = 0;
}

void wv_catalog_unfit(struct wv_recipe *recipe)
{
	recipe->unfit = true;
	for (unsigned int i = 0; i < recipe->n_argv; i++)
		if (recipe->argv[i].patience == 1)
			recipe->argv[i].divergent = 1;
}

void wv_catalog_refuse(struct wv_catalog *c, uid_t uid, const struct wv_key *key, const char *why)
{
	struct wv_user *user = wv_catalog_user(c, uid, false);
	struct wv_recipe *recipe;

	if (!user)
		return;
	LIST_FOREACH (recipe, bucket_of(user, key), key_link) {
		if (!wv_key_equal(&recipe->key, key))
			continue;
		uncharge(user->account, recipe);
		uncharge(&c->all, recipe);
		wv_recipe_refuse(recipe, why);
		charge(user->account, recipe);
		charge(&c->all, recipe);
	}
}
