/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/recipe_json.h"

#include "base/base.h"
#include "store/hex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} counters[] = {
    {"hits", offsetof(struct wv_counters, hits)},
    {"misses", offsetof(struct wv_counters, misses)},
    {"records", offsetof(struct wv_counters, records)},
    {"reports", offsetof(struct wv_counters, reports)},
    {"warm", offsetof(struct wv_counters, warm)},
    {"adopted", offsetof(struct wv_counters, adopted)},
    {"kernel", offsetof(struct wv_counters, kernel)},
    {"diverged", offsetof(struct wv_counters, diverged)},
    {"unused", offsetof(struct wv_counters, unused)},
    {"spares", offsetof(struct wv_counters, spares)},
};

_Static_assert(sizeof(struct wv_counters) == WV_ARRAY_SIZE(counters) * sizeof(uint64_t),
	       "every counter has its row");

json_t *wv_counters_json(const struct wv_counters *from)
{
	json_t *json = json_object();

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(counters); i++) {
		uint64_t value;

		memcpy(&value, (const uint8_t *)from + counters[i].offset, sizeof(value));
		json_object_set_new(json, counters[i].name, json_integer((json_int_t)value));
	}
	return json;
}

static void counters_from_json(json_t *json, struct wv_counters *to)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(counters); i++) {
		json_int_t read = json_integer_value(json_object_get(json, counters[i].name));
		uint64_t value = read > 0 ? (uint64_t)read : 0;

		memcpy((uint8_t *)to + counters[i].offset, &value, sizeof(value));
	}
}

#define HEX_BUILD_ID (2 * sizeof(struct wv_build_id) + 1)

static json_t *key_to_json(const struct wv_recipe *r)
{
	char program[HEX_BUILD_ID], verbs[HEX_BUILD_ID], provider[HEX_BUILD_ID];
	const struct wv_key *key = &r->key;

	wv_hex(&key->program, sizeof(key->program), program);
	wv_hex(&key->verbs, sizeof(key->verbs), verbs);
	wv_hex(&r->provider, sizeof(r->provider), provider);
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:s}", "program", program, "verbs",
			 verbs, "provider", provider, "ibdev", key->ibdev, "driver_id",
			 (json_int_t)key->driver_id, "kernel", key->kernel, "open_number",
			 (json_int_t)key->open_number, "name", key->name);
}

static json_t *argv_to_json(const struct wv_recipe *r)
{
	json_t *json = json_array();

	for (unsigned int i = 0; i < r->n_argv; i++) {
		const struct wv_argv *argv = &r->argv[i];
		char hash[17];

		wv_hex_u64(argv->hash, hash);
		json_array_append_new(json, json_pack("{s:s, s:I, s:I}", "hash", hash, "divergent",
						      (json_int_t)argv->divergent, "patience",
						      (json_int_t)argv->patience));
	}
	return json;
}

/* A refused recipe has none. */
static json_t *steps_to_json(const struct wv_recipe *r)
{
	return r->cmdlog ? wv_steps_to_json(r->cmdlog) : json_array();
}

json_t *wv_recipe_summary(const struct wv_recipe *r)
{
	char id[17];

	wv_hex_u64(r->id, id);
	return json_pack("{s:i, s:s, s:o, s:s, s:I, s:I, s:o, s:I, s:I}", "format",
			 WV_RECIPE_FORMAT, "id", id, "key", key_to_json(r), "comm", r->comm,
			 "created", (json_int_t)r->created, "used", (json_int_t)r->used, "counters",
			 wv_counters_json(&r->counters), "argv", (json_int_t)r->n_argv, "steps",
			 (json_int_t)r->n_steps);
}

json_t *wv_recipe_to_json(const struct wv_recipe *r)
{
	json_t *json = wv_recipe_summary(r);

	if (json_object_set_new(json, "argv", argv_to_json(r)) ||
	    json_object_set_new(json, "steps", steps_to_json(r))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

struct reader {
	char *why;
	size_t capacity;
	struct wv_key key;
	struct wv_build_id provider;
};

static int bad(struct reader *r, const char *what)
{
	snprintf(r->why, r->capacity, "%s", what);
	return WV_RECIPE_BAD;
}

static int read_key(struct reader *r, json_t *json)
{
	const char *program, *verbs, *provider, *ibdev, *kernel, *name;
	json_int_t driver_id, open_number;
	struct wv_key *key = &r->key;
	json_error_t error;

	if (json_unpack_ex(json, &error, JSON_STRICT, "{s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:s}",
			   "program", &program, "verbs", &verbs, "provider", &provider, "ibdev",
			   &ibdev, "driver_id", &driver_id, "kernel", &kernel, "open_number",
			   &open_number, "name", &name))
		return bad(r, error.text);
	if (driver_id < 0 || driver_id > UINT32_MAX || open_number < 0 || open_number > UINT32_MAX)
		return bad(r, "a number of the key is out of range");
	key->driver_id = (uint32_t)driver_id;
	key->open_number = (uint32_t)open_number;
	if (wv_unhex(program, &key->program, sizeof(key->program)) ||
	    wv_unhex(verbs, &key->verbs, sizeof(key->verbs)) ||
	    wv_unhex(provider, &r->provider, sizeof(r->provider)))
		return bad(r, "a build-id of the key is not 40 hexadecimal digits");
	if (!wv_copy_string(key->ibdev, sizeof(key->ibdev), ibdev) ||
	    !wv_copy_string(key->kernel, sizeof(key->kernel), kernel) ||
	    !wv_copy_string(key->name, sizeof(key->name), name))
		return bad(r, "a name of the key is too long");
	return 0;
}

static int read_argv(struct reader *r, json_t *json, struct wv_recipe *recipe)
{
	size_t i;
	json_t *entry;

	if (!json_is_array(json) || json_array_size(json) > WV_RECIPE_MAX_ARGV)
		return bad(r, "argv is not a list, or too long");
	json_array_foreach (json, i, entry) {
		json_int_t divergent, patience;
		struct wv_argv *argv;
		json_error_t error;
		const char *text;
		uint64_t hash;

		if (json_unpack_ex(entry, &error, JSON_STRICT, "{s:s, s:I, s:I}", "hash", &text,
				   "divergent", &divergent, "patience", &patience))
			return bad(r, error.text);
		if (wv_unhex_u64(text, &hash) || divergent < 0 || divergent > UINT32_MAX ||
		    patience < 1 || patience > UINT32_MAX)
			return bad(r, "an entry of argv is out of range");
		argv = wv_recipe_add_argv(recipe, hash);
		argv->divergent = (uint32_t)divergent;
		argv->patience = (uint32_t)patience;
	}
	return 0;
}

/* The parts of the document, borrowed from it. */
struct document {
	const char *id, *comm;
	json_t *key, *argv, *counters, *steps;
	json_int_t created, used;
};

static int split(struct reader *r, json_t *json, struct document *d)
{
	json_int_t format = json_integer_value(json_object_get(json, "format"));
	json_error_t error;

	if (format > WV_RECIPE_FORMAT) {
		snprintf(r->why, r->capacity, "format %lld is newer than this version reads",
			 (long long)format);
		return WV_RECIPE_NEWER;
	}
	if (json_unpack_ex(json, &error, JSON_STRICT,
			   "{s:I, s:s, s:o, s:s, s:o, s:I, s:I, s:o, s:o}", "format", &format, "id",
			   &d->id, "key", &d->key, "comm", &d->comm, "argv", &d->argv, "created",
			   &d->created, "used", &d->used, "counters", &d->counters, "steps",
			   &d->steps))
		return bad(r, error.text);
	if (format != WV_RECIPE_FORMAT || d->created < 0 || d->used < 0)
		return bad(r, "format or a time is out of range");
	return 0;
}

/* Reads everything but the key and the command log. */
static int fill(struct reader *r, const struct document *d, struct wv_recipe *recipe)
{
	uint64_t id;

	if (wv_unhex_u64(d->id, &id) || id != recipe->id)
		return bad(r, "the content does not match the id: the file was changed");
	if (recipe->refused)
		return bad(r, recipe->refused);
	if (!wv_copy_string(recipe->comm, sizeof(recipe->comm), d->comm))
		return bad(r, "comm is too long");
	recipe->created = (uint64_t)d->created;
	recipe->used = (uint64_t)d->used;
	counters_from_json(d->counters, &recipe->counters);
	return read_argv(r, d->argv, recipe);
}

int wv_recipe_from_json(json_t *json, uid_t uid, struct wv_recipe **recipe, char *why,
			size_t capacity)
{
	struct reader r = {.why = why, .capacity = capacity};
	struct wv_cmdlog *cmdlog = NULL;
	struct document d;
	int err = split(&r, json, &d);

	if (!err)
		err = read_key(&r, d.key);
	if (!err)
		err = wv_steps_from_json(d.steps, r.key.driver_id, &cmdlog, why, capacity);
	if (!err)
		err = wv_recipe_assemble(uid, &r.key, &r.provider, cmdlog, recipe);
	if (err)
		return err;
	err = fill(&r, &d, *recipe);
	if (err)
		wv_recipe_free(*recipe);
	return err;
}
