/* SPDX-License-Identifier: BSD-2-Clause */
/* Recipes on disk and in memory: round trips, crashes, and files that are not what they seem. */
#include "fixture.h"

#include "base/log.h"
#include "store/catalog.h"
#include "store/hex.h"
#include "store/reached.h"
#include "store/recipe_json.h"
#include "store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define UID 1234u

/* A store in a directory of its own. */
struct bench {
	struct wv_store store;
	char dir[32];
	struct wv_recipe *loaded[16];
	unsigned int n_loaded;
};

static struct wv_key key_named(const char *name)
{
	struct wv_key key = {.driver_id = RDMA_DRIVER_RXE, .open_number = 1};

	memset(&key.program, 0xab, sizeof(key.program));
	memset(&key.verbs, 0x01, sizeof(key.verbs));
	strcpy(key.ibdev, "rxe0");
	strcpy(key.kernel, "6.1.0-test");
	strcpy(key.name, name);
	return key;
}

static struct wv_recipe *make_of(uid_t uid, const char *fixture, const char *name)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_recipe(fixture);
	struct wv_build_id provider = {.bytes = {1, 2, 3}};
	struct wv_key key = key_named(name);
	struct wv_recipe *recipe;

	assert_int_equal(wv_recipe_new(uid, &key, &provider, cmdlog, &recipe), 0);
	strcpy(recipe->comm, "program");
	return recipe;
}

static struct wv_recipe *make(const char *fixture, const char *name)
{
	return make_of(UID, fixture, name);
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	wv_log_init(WV_ERROR);
	strcpy(b->dir, "/tmp/test_store.XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	assert_int_equal(wv_store_open(&b->store, b->dir), 0);
	*state = b;
	return 0;
}

static void forget_loaded(struct bench *b)
{
	while (b->n_loaded)
		wv_recipe_free(b->loaded[--b->n_loaded]);
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	forget_loaded(b);
	wv_store_close(&b->store);
	remove_tree(b->dir);
	free(b);
	return 0;
}

static void take(void *arg, struct wv_recipe *recipe)
{
	struct bench *b = arg;

	assert_true(b->n_loaded < WV_ARRAY_SIZE(b->loaded));
	b->loaded[b->n_loaded++] = recipe;
}

/* How many recipes are there. */
static unsigned int load(struct bench *b)
{
	forget_loaded(b);
	wv_store_load(&b->store, take, b);
	return b->n_loaded;
}

static void path_of(const struct bench *b, const struct wv_recipe *recipe, const char *suffix,
		    char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%u/%016llx.json%s", b->dir, UID,
		 (unsigned long long)recipe->id, suffix);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static char *read_text(const char *path)
{
	char *text = calloc(1, WV_RECIPE_MAX_BYTES + 1);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_true(fread(text, 1, WV_RECIPE_MAX_BYTES, in) > 0);
	fclose(in);
	return text;
}

static void write_bytes(const char *path, const char *text, size_t bytes)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, bytes, out), bytes);
	fclose(out);
}

static void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

static void test_every_fixture_survives_the_disk(void **state)
{
	struct bench *b = *state;

	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		struct wv_recipe *recipe = make(fixture_names[i], "");

		assert_null(recipe->refused);
		assert_int_equal(wv_store_save(&b->store, recipe), 0);
		assert_int_equal(load(b), 1);
		assert_true(wv_recipe_equal(recipe, b->loaded[0]));
		assert_int_equal(recipe->id, b->loaded[0]->id);
		assert_memory_equal(&recipe->cost, &b->loaded[0]->cost, sizeof(recipe->cost));
		assert_int_equal(wv_store_remove(&b->store, UID, recipe->id), 0);
		wv_recipe_free(recipe);
	}
}

static void test_all_but_the_tape_survives_too(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "name");
	struct wv_recipe *again;

	recipe->counters = (struct wv_counters){1, 2, 3, 4, 5, 6, 7, 1ull << 60};
	recipe->created = 1000000000;
	recipe->used = 2000000000;
	wv_recipe_add_argv(recipe, UINT64_MAX)->divergent = 3;
	wv_recipe_add_argv(recipe, 7)->patience = 64;
	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	assert_int_equal(load(b), 1);
	again = b->loaded[0];
	assert_int_equal(again->uid, UID);
	assert_memory_equal(&again->counters, &recipe->counters, sizeof(recipe->counters));
	assert_memory_equal(again->argv, recipe->argv, sizeof(recipe->argv));
	assert_int_equal(again->n_argv, 2);
	assert_int_equal(again->created, recipe->created);
	assert_int_equal(again->used, recipe->used);
	assert_string_equal(again->comm, "program");
	assert_true(wv_key_equal(&again->key, &recipe->key));
	assert_false(again->dirty);
	wv_recipe_free(recipe);
}

static void test_modes(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX];
	struct stat st;

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	assert_int_equal(stat(b->dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	path_of(b, recipe, "", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	wv_recipe_free(recipe);
}

static void test_the_directory_is_locked(void **state)
{
	struct bench *b = *state;
	struct wv_store second;

	assert_int_equal(wv_store_open(&second, b->dir), -EBUSY);
	assert_int_equal(load(b), 0);
	wv_store_close(&b->store);
	assert_int_equal(wv_store_open(&second, b->dir), 0);
	wv_store_close(&second);
}

static void test_a_store_that_is_not_there_does_nothing(void **state)
{
	struct wv_recipe *recipe = make("rc_pingpong", "");
	struct bench *b = *state;
	struct wv_store none;

	assert_int_equal(wv_store_open(&none, "/proc/no/such"), -ENOENT);
	assert_int_equal(wv_store_save(&none, recipe), -ENODEV);
	assert_int_equal(wv_store_remove(&none, UID, recipe->id), 0);
	wv_store_load(&none, take, b);
	assert_int_equal(b->n_loaded, 0);
	wv_recipe_free(recipe);
}

static void test_a_crash_while_saving_leaves_the_old_file(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char leftover[PATH_MAX];

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	snprintf(leftover, sizeof(leftover), "%s/%u/" WV_NEW_PREFIX "%016llx.json", b->dir, UID,
		 (unsigned long long)recipe->id);
	write_text(leftover, "{\"format\": 1, \"id\"");
	assert_int_equal(load(b), 1);
	assert_false(exists(leftover));
	/* One that cannot be removed is overwritten by the next save. */
	write_text(leftover, "more than fits");
	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	assert_false(exists(leftover));
	assert_int_equal(load(b), 1);
	wv_recipe_free(recipe);
}

/* Puts @bytes of @text where the recipe's file is; it must be set aside. */
static void expect_set_aside(struct bench *b, const struct wv_recipe *recipe, const char *text,
			     size_t bytes)
{
	char path[PATH_MAX], bad[PATH_MAX];

	path_of(b, recipe, "", path);
	path_of(b, recipe, WV_BAD_SUFFIX, bad);
	write_bytes(path, text, bytes);
	assert_int_equal(load(b), 0);
	assert_false(exists(path));
	assert_true(exists(bad));
	assert_int_equal(unlink(bad), 0);
}

static void test_truncated_files(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX];
	wv_auto_free char *text = NULL;

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	text = read_text(path);
	for (size_t bytes = 0; bytes < strlen(text) - 1; bytes += 37)
		expect_set_aside(b, recipe, text, bytes);
	wv_recipe_free(recipe);
}

static void test_flipped_bytes(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	wv_auto_free char *text = NULL;
	char path[PATH_MAX];
	uint64_t random = 1;

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	text = read_text(path);
	for (int i = 0; i < 2000; i++) {
		size_t at = pseudo_random(&random) % strlen(text);
		char was = text[at];
		char bad[PATH_MAX];

		text[at] = (char)pseudo_random(&random);
		write_bytes(path, text, strlen(text));
		text[at] = was;
		/* Whatever it has become: set aside, or still this very command log. */
		if (load(b)) {
			assert_true(wv_recipe_equal(b->loaded[0], recipe));
			continue;
		}
		path_of(b, recipe, WV_BAD_SUFFIX, bad);
		if (!exists(path))
			assert_int_equal(unlink(bad), 0);
	}
	wv_recipe_free(recipe);
}

/* Documents that are wrong in one place, made from a right one. */
struct wrong {
	const char *what;
	const char *path[5]; /* of the place; a number is an index */
	const char *json;    /* instead; NULL: the place is removed */
};

static const struct wrong wrongs[] = {
    {"no format", {"format"}, NULL},
    {"format 0", {"format"}, "0"},
    {"format of another type", {"format"}, "\"1\""},
    {"unknown member", {"more"}, "1"},
    {"no key", {"key"}, NULL},
    {"key is a list", {"key"}, "[]"},
    {"build-id too short", {"key", "program"}, "\"abcd\""},
    {"build-id not hex", {"key", "verbs"}, "\"zz03030303030303030303030303030303030303\""},
    {"device name too long",
     {"key", "ibdev"},
     "\"0123456789012345678901234567890123456789012345678901234567890123456789\""},
    {"unknown driver", {"key", "driver_id"}, "999"},
    {"negative driver", {"key", "driver_id"}, "-1"},
    {"other open number", {"key", "open_number"}, "2"},
    {"comm too long", {"comm"}, "\"0123456789012345678\""},
    {"comm with a zero", {"comm"}, "\"a\\u0000b\""},
    {"argv is an object", {"argv"}, "{}"},
    {"argv entry is a number", {"argv"}, "[1]"},
    {"argv without patience",
     {"argv"},
     "[{\"hash\": \"0000000000000001\", \"divergent\": 0, \"patience\": 0}]"},
    {"negative time", {"used"}, "-1"},
    {"no steps", {"steps"}, NULL},
    {"other steps", {"steps"}, "[]"},
    {"steps are text", {"steps"}, "\"steps\""},
    {"step is null", {"steps", "0"}, "null"},
    {"unknown method", {"steps", "0", "method"}, "4000"},
    {"method out of range", {"steps", "0", "method"}, "70000"},
    {"a step that failed, at random", {"steps", "1", "error"}, "5"},
    {"error out of range", {"steps", "1", "error"}, "99999999999"},
    {"target of a step that has none", {"steps", "0", "target"}, "3"},
    {"target out of range", {"steps", "0", "target"}, "-3"},
    {"attrs is a number", {"steps", "0", "attrs"}, "7"},
    {"unknown attribute", {"steps", "1", "attrs", "0", "id"}, "3999"},
    {"attribute's len is not its bytes'", {"steps", "1", "attrs", "0", "len"}, "3"},
    {"attribute longer than a command log", {"steps", "1", "attrs", "0", "len"}, "65535"},
    {"flags out of range", {"steps", "1", "attrs", "0", "flags"}, "65536"},
};

/* The value at all but the last part of the path, and that part. */
static json_t *parent_of(json_t *json, const struct wrong *wrong, const char **last)
{
	unsigned int i = 0;

	for (; i + 1 < WV_ARRAY_SIZE(wrong->path) && wrong->path[i + 1]; i++)
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(wrong->path[i]))
					   : json_object_get(json, wrong->path[i]);
	*last = wrong->path[i];
	return json;
}

static void spoil(json_t *json, const struct wrong *wrong)
{
	const char *last;
	json_t *parent = parent_of(json, wrong, &last);
	json_t *value =
	    wrong->json ? json_loads(wrong->json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;

	assert_non_null(parent);
	if (!wrong->json)
		json_object_del(parent, last);
	else if (json_is_array(parent))
		json_array_set_new(parent, (size_t)atoi(last), value);
	else
		json_object_set_new(parent, last, value);
}

static void test_hostile_documents(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(wrongs); i++) {
		json_t *json = wv_recipe_to_json(recipe);
		wv_auto_free char *text = NULL;

		spoil(json, &wrongs[i]);
		text = json_dumps(json, 0);
		expect_set_aside(b, recipe, text, strlen(text));
		json_decref(json);
	}
	wv_recipe_free(recipe);
}

static void test_files_that_are_no_json(void **state)
{
	static const char *const texts[] = {"",
					    "\n",
					    "null",
					    "[]",
					    "{}",
					    "{\"format\": 1}",
					    "\177ELF",
					    "{\"format\": 1e999}",
					    "{\"a\": 1, \"a\": 2}"};
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	wv_auto_free char *deep = malloc(500000);

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(texts); i++)
		expect_set_aside(b, recipe, texts[i], strlen(texts[i]));
	memset(deep, '[', 500000);
	expect_set_aside(b, recipe, deep, 500000);
	wv_recipe_free(recipe);
}

static void test_a_file_too_large(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX], bad[PATH_MAX];

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	path_of(b, recipe, WV_BAD_SUFFIX, bad);
	assert_int_equal(truncate(path, WV_RECIPE_MAX_BYTES + 1), 0);
	assert_int_equal(load(b), 0);
	assert_true(exists(bad));
	wv_recipe_free(recipe);
}

static void test_things_that_are_no_files(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX], bad[PATH_MAX];

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	path_of(b, recipe, WV_BAD_SUFFIX, bad);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* must not be waited for */
	assert_int_equal(load(b), 0);
	assert_true(exists(bad));
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(load(b), 0);
	assert_false(exists(path));
	wv_recipe_free(recipe);
}

static void test_a_file_under_another_name(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX], other[PATH_MAX];

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	snprintf(other, sizeof(other), "%s/%u/0123456789abcdef.json", b->dir, UID);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(load(b), 0);
	assert_false(exists(other));
	wv_recipe_free(recipe);
}

/* A recipe copied from one user to another is not the other's. */
static void test_a_file_of_another_user(void **state)
{
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX], other[PATH_MAX];

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	snprintf(other, sizeof(other), "%s/%u", b->dir, UID + 1);
	assert_int_equal(mkdir(other, 0700), 0);
	snprintf(other, sizeof(other), "%s/%u/%016llx.json", b->dir, UID + 1,
		 (unsigned long long)recipe->id);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(load(b), 0);
	assert_false(exists(other));
	wv_recipe_free(recipe);
}

static void test_a_newer_format_is_left_alone(void **state)
{
	static const char newer[] = "{\"format\": 2, \"whatever\": [1, 2]}";
	struct bench *b = *state;
	struct wv_recipe *recipe = make("rc_pingpong", "");
	char path[PATH_MAX];

	assert_int_equal(wv_store_save(&b->store, recipe), 0);
	path_of(b, recipe, "", path);
	write_text(path, newer);
	assert_int_equal(load(b), 0);
	wv_auto_free char *text = read_text(path);
	assert_string_equal(text, newer);
	wv_recipe_free(recipe);
}

static void test_numbers_that_are_none(void **state)
{
	static const char *const texts[] = {"", "01", "0123456789abcdeg", "0123456789ABCDEF"};
	uint64_t value = 1;

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(texts); i++) {
		assert_int_equal(wv_unhex_u64(texts[i], &value), -EINVAL);
		assert_int_equal(value, 1);
	}
	assert_int_equal(wv_unhex_u64("0123456789abcdef", &value), 0);
	assert_int_equal(value, 0x0123456789abcdef);
}

static void test_strangers_in_the_directory(void **state)
{
	struct bench *b = *state;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/README", b->dir);
	write_text(path, "hello");
	snprintf(path, sizeof(path), "%s/007", b->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/42", b->dir);
	write_text(path, "a file where a directory should be");
	assert_int_equal(load(b), 0);
	assert_true(exists(path));
}

/*
 * What happens on a disk that is full or read-only, with a file system of our own: needs rights.
 * Returns the result of saving there, or 77.
 */
static int save_on(const char *options, unsigned long flags)
{
	struct bench b = {.dir = "/tmp/test_store.XXXXXX"};
	struct wv_recipe *recipe = make("srq_pingpong", "");
	int err;

	if (!mkdtemp(b.dir) || mount("none", b.dir, "tmpfs", 0, options))
		return 77;
	if (wv_store_open(&b.store, b.dir) ||
	    (flags && mount(NULL, b.dir, NULL, MS_REMOUNT | flags, NULL)))
		return 77;
	err = wv_store_save(&b.store, recipe);
	if (load(&b))
		err = -EEXIST; /* half a file was taken for a recipe */
	wv_store_close(&b.store);
	umount(b.dir);
	rmdir(b.dir);
	wv_recipe_free(recipe);
	return -err;
}

/* In a mount namespace of its own, so that nothing stays behind. */
static void expect_saving_to_fail(const char *options, unsigned long flags, int wanted)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(77);
		_exit(save_on(options, flags));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no right to mount a file system here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), wanted);
}

static void test_a_full_disk(void **state)
{
	(void)state;
	expect_saving_to_fail("size=8k", 0, ENOSPC);
}

static void test_a_read_only_disk(void **state)
{
	(void)state;
	expect_saving_to_fail("size=1m", MS_RDONLY, EROFS);
}

/* The catalog. */

struct shelf {
	struct wv_catalog catalog;
	uint64_t dropped[64];
	unsigned int n_dropped, n_dropped_files;
	struct wv_recipe_account accounts[4]; /* of UID and those after it */
};

static void on_drop(void *arg, struct wv_recipe *recipe)
{
	struct shelf *shelf = arg;

	shelf->dropped[shelf->n_dropped++] = recipe->id;
	shelf->n_dropped_files += recipe->stored;
}

static bool on_join(void *arg, struct wv_user *user)
{
	struct shelf *shelf = arg;

	user->account = &shelf->accounts[user->uid - UID];
	return true;
}

static void on_leave(void *arg, struct wv_user *user)
{
	(void)arg;
	(void)user;
}

static int shelf_set_up(void **state)
{
	struct shelf *shelf = calloc(1, sizeof(*shelf));
	const struct wv_catalog_limits limits = {
	    .recipes_of_one = 20, .recipes = 100, .bytes = 1 << 20};
	const struct wv_catalog_owner owner = {
	    .arg = shelf,
	    .drop = on_drop,
	    .join = on_join,
	    .leave = on_leave,
	};

	wv_catalog_init(&shelf->catalog, &limits, &owner);
	*state = shelf;
	return 0;
}

static int shelf_tear_down(void **state)
{
	struct shelf *shelf = *state;

	wv_catalog_finish(&shelf->catalog);
	free(shelf);
	return 0;
}

/* Recorded by a run with @argv. */
static struct wv_recipe *record(struct shelf *shelf, const char *fixture, const char *name,
				uint64_t argv)
{
	struct wv_recipe *recipe = wv_catalog_add(&shelf->catalog, make(fixture, name));

	assert_non_null(recipe);
	wv_catalog_recorded(&shelf->catalog, recipe, argv);
	return recipe;
}

static enum wv_choice choose(struct shelf *shelf, const char *name, uint64_t argv,
			     struct wv_recipe **recipe)
{
	struct wv_key key = key_named(name);

	*recipe = NULL;
	return wv_catalog_choose(&shelf->catalog, UID, &key, argv, recipe);
}

static void assert_served(struct shelf *shelf, uint64_t argv, const struct wv_recipe *wanted)
{
	struct wv_recipe *recipe;

	assert_int_equal(choose(shelf, "", argv, &recipe), WV_CHOICE_SERVE);
	assert_ptr_equal(recipe, wanted);
}

static void assert_records(struct shelf *shelf, uint64_t argv)
{
	struct wv_recipe *recipe;

	assert_int_equal(choose(shelf, "", argv, &recipe), WV_CHOICE_RECORD);
}

static void test_an_unknown_program_records(void **state)
{
	struct wv_key key = key_named("");
	struct wv_recipe *recipe;
	struct shelf *shelf = *state;

	assert_records(shelf, 1);
	record(shelf, "rc_pingpong", "", 1);
	key.program.bytes[0]++;
	assert_int_equal(wv_catalog_choose(&shelf->catalog, UID, &key, 1, &recipe),
			 WV_CHOICE_RECORD);
	key = key_named("other name");
	assert_int_equal(wv_catalog_choose(&shelf->catalog, UID, &key, 1, &recipe),
			 WV_CHOICE_RECORD);
	key = key_named("");
	assert_int_equal(wv_catalog_choose(&shelf->catalog, UID + 1, &key, 1, &recipe),
			 WV_CHOICE_RECORD);
}

static void test_the_variant_of_the_arguments_first(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);
	struct wv_recipe *two = record(shelf, "srq_pingpong", "", 2);

	assert_served(shelf, 1, one);
	assert_served(shelf, 2, two);
}

static void test_else_the_variant_that_served_well_last(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);
	struct wv_recipe *two = record(shelf, "srq_pingpong", "", 2);

	assert_served(shelf, 3, two);
	wv_catalog_served(&shelf->catalog, one, 1, WV_FIT);
	assert_served(shelf, 3, one);
	wv_catalog_served(&shelf->catalog, two, 2, WV_DIVERGED); /* not well */
	assert_served(shelf, 4, one);
}

static void test_equal_recordings_are_one_recipe(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);

	assert_ptr_equal(record(shelf, "rc_pingpong", "", 2), one);
	assert_int_equal(one->n_argv, 2);
	assert_int_equal(one->counters.records, 2);
	assert_served(shelf, 2, one);
}

static void test_recorded_again_once_after_a_divergence(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);

	wv_catalog_served(&shelf->catalog, one, 2,
			  WV_DIVERGED); /* other arguments, and it showed */
	assert_served(shelf, 1, one);
	assert_records(shelf, 2);
	assert_served(shelf, 2, one); /* until the recording comes */
}

static void test_a_better_recording_takes_over(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);
	struct wv_recipe *two;

	wv_catalog_served(&shelf->catalog, one, 2, WV_DIVERGED);
	assert_records(shelf, 2);
	two = record(shelf, "srq_pingpong", "", 2);
	assert_null(wv_recipe_argv(one, 2));
	assert_served(shelf, 2, two);
	assert_served(shelf, 1, one);
}

static void test_no_loop_where_recording_does_not_help(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1), *recipe;
	unsigned int asked = 0;

	for (int run = 0; run < 1000; run++) {
		if (choose(shelf, "", 1, &recipe) == WV_CHOICE_RECORD) {
			asked++;
			record(shelf, "rc_pingpong", "", 1); /* the same again */
		} else {
			wv_catalog_served(&shelf->catalog, one, 1, WV_DIVERGED);
		}
	}
	assert_uint_in_range(asked, 2, 5);
}

/* What follows a connection often differs, so that it takes more runs until it counts. */
static void test_late_divergences_count_for_less(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);

	for (int round = 0; round < 2; round++) {
		for (int run = 0; run < 7; run++) {
			wv_catalog_served(&shelf->catalog, one, 1, WV_DIVERGED_LATE);
			assert_served(shelf, 1, one);
		}
		if (!round) /* a run that fits makes up for all of them */
			wv_catalog_served(&shelf->catalog, one, 1, WV_FIT);
	}
	wv_catalog_served(&shelf->catalog, one, 1, WV_DIVERGED_LATE);
	assert_records(shelf, 1);
	assert_served(shelf, 1, one); /* until the recording comes */
}

/* Programs that used the first @reached steps end, one after the other. */
static struct wv_recipe *end_programs(struct shelf *shelf, struct wv_recipe *recipe,
				      const unsigned int reached[WV_RECIPE_RUNS])
{
	for (unsigned int i = 0; i < WV_RECIPE_RUNS - 1; i++)
		assert_null(wv_catalog_reached(&shelf->catalog, recipe, reached[i]));
	return wv_catalog_reached(&shelf->catalog, recipe, reached[WV_RECIPE_RUNS - 1]);
}

static void test_an_end_that_few_programs_use_is_dropped(void **state)
{
	static const unsigned int most[] = {54, 9, 54, 54, 9, 54, 9, 9},
				  few[] = {54, 9, 54, 9, 9, 12, 9, 54};
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "srq_pingpong", "", 1), *shorter;

	assert_int_equal(one->n_steps, 54);
	assert_null(end_programs(shelf, one, most));
	shorter = end_programs(shelf, one, few);
	assert_non_null(shorter);
	assert_int_equal(shorter->n_steps, 12);
	assert_null(shorter->refused);
	assert_int_equal(wv_cmdlog_check(shorter->cmdlog, shorter->cmdlog->bytes, WV_RECIPE), 0);
	assert_served(shelf, 1, shorter);
	assert_null(end_programs(shelf, shorter, few)); /* out of bounds, or all of it */
}

static void test_a_late_report_does_not_undo_a_recording(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1);
	struct wv_recipe *two = record(shelf, "srq_pingpong", "", 1);

	wv_catalog_served(&shelf->catalog, one, 1, WV_DIVERGED);
	assert_null(wv_recipe_argv(one, 1));
	assert_served(shelf, 1, two);
}

static void test_a_recipe_that_the_kernel_refuses(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *one = record(shelf, "rc_pingpong", "", 1), *recipe;

	wv_catalog_unfit(one);
	assert_records(shelf, 1);
	assert_int_equal(choose(shelf, "", 1, &recipe), WV_CHOICE_UNFIT);
	assert_records(shelf, 2); /* other arguments may fare better */
	record(shelf, "rc_pingpong", "", 1);
	assert_served(shelf, 1, one); /* may have changed */
	wv_catalog_unfit(one);
	assert_int_equal(choose(shelf, "", 1, &recipe), WV_CHOICE_UNFIT);
}

static void test_arguments_are_bounded(void **state)
{
	struct wv_recipe *recipe = make("rc_pingpong", "");

	(void)state;
	for (uint64_t i = 1; i <= WV_RECIPE_MAX_ARGV + 3; i++)
		wv_recipe_add_argv(recipe, i);
	assert_int_equal(recipe->n_argv, WV_RECIPE_MAX_ARGV);
	assert_null(wv_recipe_argv(recipe, 3));
	assert_int_equal(recipe->argv[0].hash, 4);
	assert_int_equal(recipe->argv[WV_RECIPE_MAX_ARGV - 1].hash, WV_RECIPE_MAX_ARGV + 3);
	wv_recipe_free(recipe);
}

static void test_the_least_recently_used_goes(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *first = NULL, *second = NULL, *recipe;
	uint64_t second_id;
	char name[8];

	for (unsigned int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%u", i);
		recipe = record(shelf, "rc_pingpong", name, 1);
		wv_catalog_touch(&shelf->catalog, recipe, 1000 + i);
		first = i == 0 ? recipe : first;
		second = i == 1 ? recipe : second;
	}
	assert_int_equal(shelf->n_dropped, 0);
	wv_catalog_touch(&shelf->catalog, first, 2000);
	second_id = second->id;
	record(shelf, "rc_pingpong", "20", 1);
	assert_int_equal(shelf->n_dropped, 1);
	assert_int_equal(shelf->dropped[0], second_id);
	assert_int_equal(choose(shelf, "0", 1, &recipe), WV_CHOICE_SERVE);
	assert_int_equal(choose(shelf, "1", 1, &recipe), WV_CHOICE_RECORD);
}

/* The same program with a CQ of @cqe entries: a variant. */
static struct wv_recipe *make_variant(uint32_t cqe)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_recipe("rc_pingpong");
	struct wv_build_id provider = {.bytes = {1}};
	struct wv_key key = key_named("");
	struct wv_recipe *recipe;

	memcpy(step_input(tape_find(cmdlog, "CQ_CREATE", 0), UVERBS_ATTR_CREATE_CQ_CQE), &cqe,
	       sizeof(cqe));
	assert_int_equal(wv_recipe_new(UID, &key, &provider, cmdlog, &recipe), 0);
	return recipe;
}

static void test_the_least_used_variant_goes(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *recipe;
	uint64_t least = 0;

	shelf->catalog.limits.recipes_of_one = 2 * WV_MAX_VARIANTS;
	for (uint32_t i = 0; i < WV_MAX_VARIANTS; i++) {
		recipe = wv_catalog_add(&shelf->catalog, make_variant(100 + i));
		wv_catalog_recorded(&shelf->catalog, recipe, i);
		recipe->counters.hits = i == 3 ? 1 : 5 + i;
		least = i == 3 ? recipe->id : least;
	}
	assert_int_equal(shelf->n_dropped, 0);
	assert_non_null(wv_catalog_add(&shelf->catalog, make_variant(1000)));
	assert_int_equal(shelf->n_dropped, 1);
	assert_int_equal(shelf->dropped[0], least);
}

/* One more recipe of @uid, used at @used. */
static struct wv_recipe *add(struct shelf *shelf, uid_t uid, unsigned int used)
{
	char name[16];
	struct wv_recipe *recipe;

	snprintf(name, sizeof(name), "at %u", used);
	recipe = make_of(uid, "rc_pingpong", name);
	recipe->used = used;
	assert_ptr_equal(wv_catalog_add(&shelf->catalog, recipe), recipe);
	return recipe;
}

static void test_who_has_most_gives_way(void **state)
{
	struct shelf *shelf = *state;
	unsigned int used = 1;
	struct wv_recipe *first;

	shelf->catalog.limits.recipes = 10;
	first = add(shelf, UID + 1, used++);
	while (used <= 10)
		add(shelf, UID, used++);
	assert_int_equal(shelf->n_dropped, 0);
	add(shelf, UID, used++);
	assert_int_equal(shelf->n_dropped, 1);
	assert_non_null(wv_catalog_find(&shelf->catalog, UID + 1, first->id));
	assert_int_equal(shelf->accounts[0].n, 9);
	while (shelf->accounts[1].n < 5)
		add(shelf, UID + 1, used++);
	assert_int_equal(shelf->accounts[0].n, 5);
	add(shelf, UID + 1, used++); /* as many, and older: others first */
	assert_int_equal(shelf->accounts[0].n + shelf->accounts[1].n, 10);
	add(shelf, UID + 1, used++);
	assert_int_equal(shelf->accounts[0].n, 5);
	assert_int_equal(shelf->catalog.all.n, 10);
}

static void test_who_has_most_bytes_gives_way(void **state)
{
	struct shelf *shelf = *state;
	size_t each;

	add(shelf, UID + 1, 1);
	each = shelf->catalog.all.bytes;
	shelf->catalog.limits.bytes = 4 * each;
	for (unsigned int used = 2; used < 20; used++)
		add(shelf, UID, used);
	assert_int_equal(shelf->accounts[0].n, 3);
	assert_int_equal(shelf->accounts[1].n, 1);
	assert_true(shelf->catalog.all.bytes <= 4 * each);
}

static void test_many_users_do_not_push_out_the_newest(void **state)
{
	struct shelf *shelf = *state;

	shelf->catalog.limits.recipes = 2;
	add(shelf, UID, 1);
	add(shelf, UID + 1, 2);
	add(shelf, UID + 2, 3);
	assert_null(wv_catalog_user(&shelf->catalog, UID, false));
	assert_int_equal(shelf->accounts[2].n, 1);
}

static void test_users_who_are_charged_together(void **state)
{
	struct shelf *shelf = *state;

	wv_catalog_user(&shelf->catalog, UID + 1, true)->account = &shelf->accounts[0];
	for (unsigned int used = 1; used <= 20; used++)
		add(shelf, UID + used % 2, used);
	assert_int_equal(shelf->n_dropped, 0);
	add(shelf, UID, 21);
	assert_int_equal(shelf->n_dropped, 1);
	assert_int_equal(shelf->accounts[0].n, 20);
	assert_int_equal(wv_catalog_user(&shelf->catalog, UID + 1, false)->n_recipes, 9);
}

static void take_to_shelf(void *arg, struct wv_recipe *recipe)
{
	struct shelf *shelf = arg;

	wv_catalog_add(&shelf->catalog, recipe);
}

static void test_loading_keeps_the_limits(void **state)
{
	struct shelf *shelf = *state;
	void *disk;
	struct bench *b;

	shelf->catalog.limits.recipes = 2;
	set_up(&disk);
	b = disk;
	for (unsigned int i = 0; i < 5; i++) {
		char name[2] = {(char)('a' + i)};
		struct wv_recipe *recipe = make("rc_pingpong", name);

		assert_int_equal(wv_store_save(&b->store, recipe), 0);
		wv_recipe_free(recipe);
	}
	wv_store_load(&b->store, take_to_shelf, shelf);
	assert_int_equal(shelf->catalog.all.n, 2);
	assert_int_equal(shelf->n_dropped_files, 3);
	tear_down(&disk);
}

static void test_what_is_refused_has_only_its_reason(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *recipe = wv_catalog_add(&shelf->catalog, make_variant(UINT32_MAX));

	assert_null(recipe->cmdlog);
	assert_int_equal(shelf->catalog.all.bytes, sizeof(*recipe));
	assert_ptr_equal(wv_catalog_add(&shelf->catalog, make_variant(UINT32_MAX)), recipe);
	recipe = wv_catalog_add(&shelf->catalog, make("rc_pingpong", ""));
	assert_true(shelf->catalog.all.bytes > 2 * sizeof(*recipe));
	wv_catalog_refuse(&shelf->catalog, UID, &recipe->key, "a reason");
	assert_null(recipe->cmdlog);
	assert_int_equal(shelf->catalog.all.bytes, 2 * sizeof(*recipe));
	assert_ptr_equal(wv_catalog_add(&shelf->catalog, make("rc_pingpong", "")), recipe);
	wv_catalog_remove(&shelf->catalog, recipe);
	assert_int_equal(shelf->accounts[0].bytes, sizeof(*recipe));
}

static void test_what_may_not_be_carried_out_is_remembered(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *recipe = wv_catalog_add(&shelf->catalog, make_variant(UINT32_MAX));

	assert_non_null(recipe->refused);
	wv_catalog_recorded(&shelf->catalog, recipe, 1);
	assert_int_equal(choose(shelf, "", 1, &recipe), WV_CHOICE_UNFIT);
	assert_records(shelf, 2);
}

/* Whoever records can choose bytes that give another recipe's id. */
static void test_an_id_is_that_of_one_recipe(void **state)
{
	struct shelf *shelf = *state;
	struct wv_recipe *recipe = wv_catalog_add(&shelf->catalog, make("rc_pingpong", ""));
	struct wv_recipe *alike = make_variant(100), *of_another = make_of(UID + 1, "rping", "");

	alike->id = of_another->id = recipe->id;
	assert_null(wv_catalog_add(&shelf->catalog, alike));
	assert_ptr_equal(wv_catalog_add(&shelf->catalog, of_another), of_another);
	assert_ptr_equal(wv_catalog_find(&shelf->catalog, UID, recipe->id), recipe);
	assert_int_equal(shelf->catalog.all.n, 2);
}

static void test_users_are_tidied(void **state)
{
	struct shelf *shelf = *state;
	struct wv_user *user = wv_catalog_user(&shelf->catalog, UID, true);

	assert_non_null(user);
	assert_null(wv_catalog_user(&shelf->catalog, UID + 1, false));
	wv_catalog_remove(&shelf->catalog, record(shelf, "rc_pingpong", "", 1));
	wv_catalog_tidy_user(&shelf->catalog, user);
	assert_null(wv_catalog_user(&shelf->catalog, UID, false));
}

#define ON_DISK(test)  cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define ON_SHELF(test) cmocka_unit_test_setup_teardown(test, shelf_set_up, shelf_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_DISK(test_every_fixture_survives_the_disk),
	    ON_DISK(test_all_but_the_tape_survives_too),
	    ON_DISK(test_modes),
	    ON_DISK(test_the_directory_is_locked),
	    ON_DISK(test_a_store_that_is_not_there_does_nothing),
	    ON_DISK(test_a_crash_while_saving_leaves_the_old_file),
	    ON_DISK(test_truncated_files),
	    ON_DISK(test_flipped_bytes),
	    ON_DISK(test_hostile_documents),
	    ON_DISK(test_files_that_are_no_json),
	    ON_DISK(test_a_file_too_large),
	    ON_DISK(test_things_that_are_no_files),
	    ON_DISK(test_a_file_under_another_name),
	    ON_DISK(test_a_file_of_another_user),
	    ON_DISK(test_a_newer_format_is_left_alone),
	    ON_DISK(test_strangers_in_the_directory),
	    cmocka_unit_test(test_numbers_that_are_none),
	    cmocka_unit_test(test_a_full_disk),
	    cmocka_unit_test(test_a_read_only_disk),
	    ON_SHELF(test_an_unknown_program_records),
	    ON_SHELF(test_the_variant_of_the_arguments_first),
	    ON_SHELF(test_else_the_variant_that_served_well_last),
	    ON_SHELF(test_equal_recordings_are_one_recipe),
	    ON_SHELF(test_recorded_again_once_after_a_divergence),
	    ON_SHELF(test_a_better_recording_takes_over),
	    ON_SHELF(test_no_loop_where_recording_does_not_help),
	    ON_SHELF(test_late_divergences_count_for_less),
	    ON_SHELF(test_an_end_that_few_programs_use_is_dropped),
	    ON_SHELF(test_a_late_report_does_not_undo_a_recording),
	    ON_SHELF(test_a_recipe_that_the_kernel_refuses),
	    cmocka_unit_test(test_arguments_are_bounded),
	    ON_SHELF(test_the_least_recently_used_goes),
	    ON_SHELF(test_the_least_used_variant_goes),
	    ON_SHELF(test_who_has_most_gives_way),
	    ON_SHELF(test_who_has_most_bytes_gives_way),
	    ON_SHELF(test_many_users_do_not_push_out_the_newest),
	    ON_SHELF(test_users_who_are_charged_together),
	    ON_SHELF(test_loading_keeps_the_limits),
	    ON_SHELF(test_what_is_refused_has_only_its_reason),
	    ON_SHELF(test_what_may_not_be_carried_out_is_remembered),
	    ON_SHELF(test_an_id_is_that_of_one_recipe),
	    ON_SHELF(test_users_are_tidied),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
