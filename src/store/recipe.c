/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/recipe.h"

#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/*
 * Strings are hashed with their terminator, so that a character cannot move from one to the next.
 */
static uint64_t hash_key(uint64_t hash, const struct wv_key *key)
{
	hash = wv_hash(hash, &key->program, sizeof(key->program));
	hash = wv_hash(hash, &key->verbs, sizeof(key->verbs));
	hash = wv_hash(hash, &key->open_number, sizeof(key->open_number));
	hash = wv_hash(hash, &key->driver_id, sizeof(key->driver_id));
	hash = wv_hash(hash, key->ibdev, strlen(key->ibdev) + 1);
	hash = wv_hash(hash, key->kernel, strlen(key->kernel) + 1);
	return wv_hash(hash, key->name, strlen(key->name) + 1);
}

static uint64_t recipe_id(const struct wv_recipe *r)
{
	uint64_t hash = wv_hash(WV_HASH_START, &r->uid, sizeof(r->uid));

	hash = hash_key(hash, &r->key);
	hash = wv_hash(hash, &r->provider, sizeof(r->provider));
	return wv_hash(hash, r->cmdlog, r->cmdlog->bytes);
}

int wv_recipe_assemble(uid_t uid, const struct wv_key *key, const struct wv_build_id *provider,
		       struct wv_cmdlog *cmdlog, struct wv_recipe **recipe)
{
	struct wv_recipe *r = calloc(1, sizeof(*r));
	const char *why;

	if (!r) {
		free(cmdlog);
		return -ENOMEM;
	}
	r->uid = uid;
	r->key = *key;
	r->provider = *provider;
	r->cmdlog = cmdlog;
	r->n_steps = cmdlog->n_steps;
	r->id = recipe_id(r);
	r->put_off = 1; /* until it is known whether its programs open what they list */
	r->created = r->used = (uint64_t)time(NULL);
	if (wv_validate(r->cmdlog, &r->cost, &why))
		wv_recipe_refuse(r, why);
	*recipe = r;
	return 0;
}

int wv_recipe_new(uid_t uid, const struct wv_key *key, const struct wv_build_id *provider,
		  const struct wv_cmdlog *cmdlog, struct wv_recipe **recipe)
{
	struct wv_cmdlog *copy = malloc(cmdlog->bytes);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, cmdlog, cmdlog->bytes);
	return wv_recipe_assemble(uid, key, provider, copy, recipe);
}

struct wv_recipe *wv_recipe_copy(const struct wv_recipe *recipe)
{
	struct wv_recipe *copy = malloc(sizeof(*copy));
	struct wv_cmdlog *cmdlog = malloc(recipe->cmdlog->bytes);

	if (!copy || !cmdlog) {
		free(copy);
		free(cmdlog);
		return NULL;
	}
	*copy = *recipe;
	copy->cmdlog = memcpy(cmdlog, recipe->cmdlog, recipe->cmdlog->bytes);
	copy->pool = NULL;
	return copy;
}

void wv_recipe_free(struct wv_recipe *recipe)
{
	free(recipe->cmdlog);
	free(recipe);
}

void wv_recipe_refuse(struct wv_recipe *recipe, const char *why)
{
	recipe->refused = why;
	free(recipe->cmdlog);
	recipe->cmdlog = NULL;
}

size_t wv_recipe_bytes(const struct wv_recipe *recipe)
{
	return sizeof(*recipe) + (recipe->cmdlog ? recipe->cmdlog->bytes : 0);
}

static bool cmdlogs_equal(const struct wv_recipe *a, const struct wv_recipe *b)
{
	if (!a->cmdlog || !b->cmdlog)
		return a->id == b->id;
	return a->cmdlog->bytes == b->cmdlog->bytes &&
	       !memcmp(a->cmdlog, b->cmdlog, a->cmdlog->bytes);
}

uint64_t wv_key_hash(const struct wv_key *key)
{
	uint64_t hash = wv_hash(WV_HASH_START, &key->program, sizeof(key->program));

	hash = wv_hash(hash, &key->open_number, sizeof(key->open_number));
	return wv_hash(hash, key->name, strlen(key->name));
}

bool wv_key_equal(const struct wv_key *a, const struct wv_key *b)
{
	return a->open_number == b->open_number && a->driver_id == b->driver_id &&
	       !memcmp(&a->program, &b->program, sizeof(a->program)) &&
	       !memcmp(&a->verbs, &b->verbs, sizeof(a->verbs)) && !strcmp(a->name, b->name) &&
	       !strcmp(a->ibdev, b->ibdev) && !strcmp(a->kernel, b->kernel);
}

bool wv_recipe_equal(const struct wv_recipe *a, const struct wv_recipe *b)
{
	return a->uid == b->uid && wv_key_equal(&a->key, &b->key) &&
	       !memcmp(&a->provider, &b->provider, sizeof(a->provider)) && cmdlogs_equal(a, b);
}

struct wv_argv *wv_recipe_argv(struct wv_recipe *recipe, uint64_t hash)
{
	for (unsigned int i = 0; i < recipe->n_argv; i++)
		if (recipe->argv[i].hash == hash)
			return &recipe->argv[i];
	return NULL;
}

struct wv_argv *wv_recipe_add_argv(struct wv_recipe *recipe, uint64_t hash)
{
	struct wv_argv *argv = wv_recipe_argv(recipe, hash);

	if (argv)
		return argv;
	if (recipe->n_argv == WV_RECIPE_MAX_ARGV)
		wv_recipe_remove_argv(recipe, recipe->argv[0].hash);
	argv = &recipe->argv[recipe->n_argv++];
	*argv = (struct wv_argv){.hash = hash, .patience = 1};
	return argv;
}

void wv_recipe_remove_argv(struct wv_recipe *recipe, uint64_t hash)
{
	struct wv_argv *argv = wv_recipe_argv(recipe, hash);

	if (!argv)
		return;
	recipe->n_argv--;
	memmove(argv, argv + 1, (size_t)(&recipe->argv[recipe->n_argv] - argv) * sizeof(*argv));
}
