/* SPDX-License-Identifier: BSD-2-Clause */
/* Recipes are written beside the event loop, to a disk that hangs as long as the test says so. */
#include "daemon_bench.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>

static void path_of(const struct daemon_bench *b, const char *prefix,
		    const struct wv_recipe *recipe, char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%u/%s%016llx.json", b->state_dir, getuid(), prefix,
		 (unsigned long long)recipe->id);
}

static bool is_on_disk(const struct daemon_bench *b, const struct wv_recipe *recipe)
{
	char path[PATH_MAX];

	path_of(b, "", recipe, path);
	return !access(path, F_OK);
}

/* Where @recipe is going to be written there is a FIFO: opening it waits for a reader. */
static void hang_disk(const struct daemon_bench *b, const struct wv_recipe *recipe,
		      char path[static PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%u", b->state_dir, getuid());
	assert_true(!mkdir(path, 0700) || errno == EEXIST);
	path_of(b, ".new-", recipe, path);
	assert_int_equal(mkfifo(path, 0600), 0);
}

/* The reader, to be closed when the save has failed: a FIFO cannot be synced. */
static int release_disk(const char *path)
{
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	assert_true(reader >= 0);
	return reader;
}

static bool has_leases(struct wv_server *s, unsigned int n)
{
	return TAILQ_FIRST(&LIST_FIRST(&s->catalog.users)->recipes)->pool->n_ready == n;
}

static bool orders_wait(struct wv_server *s, unsigned int n)
{
	return wv_line_busy(s->saver.line) == n;
}

static void test_a_disk_that_hangs_delays_only_saving(void **state)
{
	struct daemon_bench *b = *state;
	char fifo[PATH_MAX];
	struct wv_recipe *recipe;
	int reader;

	bench_record(b, 1, "rc_pingpong");
	recipe = bench_recipe(b);
	hang_disk(b, recipe, fifo);
	bench_run_until(b, orders_wait, 1);
	bench_run_until(b, has_leases, 1);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	bench_run_until(b, has_leases, 1);
	assert_int_equal(wv_line_busy(b->server->saver.line), 1);
	assert_false(is_on_disk(b, recipe));
	reader = release_disk(fifo);
	bench_run_until(b, orders_wait, 0);
	close(reader);
	assert_true(recipe->dirty);
	assert_true(b->server->saver.retry_us > 0);
	b->server->saver.retry_us = 0;
	bench_settle(b);
	assert_true(is_on_disk(b, recipe));
}

static void test_what_is_forgotten_while_it_is_saved(void **state)
{
	struct daemon_bench *b = *state;
	char fifo[PATH_MAX], path[PATH_MAX];
	struct wv_recipe *recipe;
	int reader;

	bench_record(b, 1, "rc_pingpong");
	recipe = bench_recipe(b);
	hang_disk(b, recipe, fifo);
	path_of(b, "", recipe, path);
	bench_run_until(b, orders_wait, 1);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	bench_record(b, 1, "rc_pingpong");
	bench_run_until(b, orders_wait, 3);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	reader = release_disk(fifo);
	bench_run_until(b, orders_wait, 0);
	close(reader);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_what_was_never_saved_is_not_removed(void **state)
{
	struct daemon_bench *b = *state;

	for (int i = 0; i < 3; i++) {
		bench_record(b, 1, "rc_pingpong");
		json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
		assert_int_equal(wv_line_busy(b->server->saver.line), 0);
	}
}

static void test_so_many_recipes_wait_for_the_disk(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_saver *saver = &b->server->saver;
	char fifo[PATH_MAX];
	struct wv_recipe *recipe;
	int reader;

	bench_record(b, 1, "rc_pingpong");
	recipe = bench_recipe(b);
	hang_disk(b, recipe, fifo);
	for (unsigned int i = 0; i < WV_MAX_SAVES; i++) {
		recipe->dirty = true;
		assert_true(wv_save_one(saver));
	}
	recipe->dirty = true;
	assert_false(wv_save_one(saver));
	assert_true(recipe->dirty);
	reader = release_disk(fifo);
	bench_run_until(b, orders_wait, 0);
	close(reader);
	b->server->saver.retry_us = 0;
	bench_settle(b);
	assert_true(is_on_disk(b, recipe));
}

static void test_what_is_refused_is_not_on_disk(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe;
	json_t *json;

	bench_record(b, 1, "rc_pingpong");
	recipe = bench_recipe(b);
	bench_save(b);
	assert_true(is_on_disk(b, recipe));
	wv_catalog_refuse(&b->server->catalog, getuid(), &recipe->key, "a reason");
	bench_save(b);
	assert_false(is_on_disk(b, recipe));
	bench_settle(b);
	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(json_array_size(json_object_get(json, "recipes")), 1);
	json_decref(json);
}

static void test_the_end_waits_for_the_disk(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_stop(b);
	bench_start(b);
	assert_int_equal(bench_recipe(b)->n_steps, 8);
}

static void test_the_end_does_not_wait_for_ever(void **state)
{
	struct daemon_bench *b = *state;
	char fifo[PATH_MAX];
	unsigned int before;
	int reader;

	bench_record(b, 1, "rc_pingpong");
	hang_disk(b, bench_recipe(b), fifo);
	before = count_fds();
	wv_saver_stop(&b->server->saver, 1000);
	assert_null(b->server->saver.line);
	reader = release_disk(fifo);
	/* The thread that was left behind has a directory and an eventfd. */
	while (count_fds() != before + 1 - 2)
		sched_yield();
	close(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_disk_that_hangs_delays_only_saving),
	    TEST(test_what_is_forgotten_while_it_is_saved),
	    TEST(test_what_was_never_saved_is_not_removed),
	    TEST(test_so_many_recipes_wait_for_the_disk),
	    TEST(test_what_is_refused_is_not_on_disk),
	    TEST(test_the_end_waits_for_the_disk),
	    TEST(test_the_end_does_not_wait_for_ever),
	};

	return cmocka_run_group_tests_name("save", tests, NULL, NULL);
}
