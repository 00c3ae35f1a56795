/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe from a file of the store, and its lease. */
#include "fuzz.h"

#include "store/recipe_json.h"
#include "tamper.h"
#include "through.h"

#define UID 1000

static uint64_t id; /* of the recipe that was assembled last */

int __real_wv_recipe_assemble(uid_t uid, const struct wv_key *key,
			      const struct wv_build_id *provider, struct wv_cmdlog *cmdlog,
			      struct wv_recipe **recipe);
int __wrap_wv_recipe_assemble(uid_t uid, const struct wv_key *key,
			      const struct wv_build_id *provider, struct wv_cmdlog *cmdlog,
			      struct wv_recipe **recipe);

int __wrap_wv_recipe_assemble(uid_t uid, const struct wv_key *key,
			      const struct wv_build_id *provider, struct wv_cmdlog *cmdlog,
			      struct wv_recipe **recipe)
{
	int err = __real_wv_recipe_assemble(uid, key, provider, cmdlog, recipe);

	if (!err)
		id = (*recipe)->id;
	return err;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	through_begin();
	return 0;
}

/* NULL if @json is no recipe. */
static struct wv_recipe *read_recipe(json_t *json)
{
	struct wv_recipe *recipe;
	char why[200] = "";
	int err = wv_recipe_from_json(json, UID, &recipe, why, sizeof(why));

	if (!err)
		return recipe;
	assert_true(err == WV_RECIPE_BAD || err == WV_RECIPE_NEWER);
	assert_true(*why && strlen(why) < sizeof(why));
	return NULL;
}

/* The id is a hash of the content, which libFuzzer would never find. */
static struct wv_recipe *read_with_right_id(json_t *json)
{
	struct wv_recipe *recipe;
	char text[17];

	id = 0;
	recipe = read_recipe(json);
	if (recipe || !id)
		return recipe;
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)id);
	json_object_set_new(json, "id", json_string(text));
	return read_recipe(json);
}

static void expect_same_again(const struct wv_recipe *recipe)
{
	json_t *json = wv_recipe_to_json(recipe);
	struct wv_recipe *again = read_recipe(json);

	assert_non_null(again);
	assert_true(again->id == recipe->id && wv_recipe_equal(again, recipe));
	assert_int_equal(again->n_argv, recipe->n_argv);
	assert_string_equal(again->comm, recipe->comm);
	assert_memory_equal(&again->counters, &recipe->counters, sizeof(again->counters));
	wv_recipe_free(again);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	json_t *json = json_loadb((const char *)data, bytes, JSON_REJECT_DUPLICATES, NULL);
	struct wv_recipe *recipe = json ? read_with_right_id(json) : NULL;

	if (recipe) {
		tamper_seed(1);
		expect_same_again(recipe);
		through_recipe(recipe->cmdlog, recipe->cmdlog->bytes);
		wv_recipe_free(recipe);
	}
	json_decref(json);
	return 0;
}
