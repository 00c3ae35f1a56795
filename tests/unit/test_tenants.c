/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is charged, and who is next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/tenants/tenant.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct wv_subordinates read_text(const char *text)
{
	char path[] = "/tmp/test_tenants.XXXXXX";
	struct wv_subordinates s;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(wv_subordinates_read(&s, path), 0);
	unlink(path);
	return s;
}

static void test_a_lent_user_is_its_owner(void **state)
{
	struct wv_subordinates s = read_text("root:100000:65536\n4711:200000:2\n");

	(void)state;
	assert_int_equal(wv_subordinate_owner(&s, 99999), 99999);
	assert_int_equal(wv_subordinate_owner(&s, 100000), 0);
	assert_int_equal(wv_subordinate_owner(&s, 165535), 0);
	assert_int_equal(wv_subordinate_owner(&s, 165536), 165536);
	assert_int_equal(wv_subordinate_owner(&s, 200001), 4711);
	assert_int_equal(wv_subordinate_owner(&s, 200002), 200002);
	wv_subordinates_free(&s);
}

static void test_wrong_lines_are_left_out(void **state)
{
	struct wv_subordinates s = read_text("# a comment\n\nno-such-user:1:5\nroot:x:5\n"
					     "root:1\n:1:5\nroot:1:99999999999\nroot:7:1");

	(void)state;
	assert_int_equal(s.n, 1);
	assert_int_equal(wv_subordinate_owner(&s, 7), 0);
	assert_int_equal(wv_subordinate_owner(&s, 1), 1);
	wv_subordinates_free(&s);
}

static void test_no_file_lends_nothing(void **state)
{
	struct wv_subordinates s;

	(void)state;
	assert_int_equal(wv_subordinates_read(&s, "/no/such/file"), 0);
	assert_int_equal(s.n, 0);
}

static void test_one_tenant_for_each_owner_and_container(void **state)
{
	struct wv_tenants t = {.subordinates = read_text("4711:200000:2\n")};
	struct wv_tenant *owner = wv_tenant_get(&t, 4711, 0);

	(void)state;
	assert_ptr_equal(wv_tenant_get(&t, 200001, 0), owner);
	assert_ptr_not_equal(wv_tenant_get(&t, 4711, 12), owner);
	assert_ptr_not_equal(wv_tenant_get(&t, 4712, 0), owner);
	wv_tenant_put(owner);
	assert_ptr_equal(LIST_NEXT(LIST_NEXT(LIST_FIRST(&t.all), link), link), owner);
	wv_tenant_put(owner);
	assert_null(LIST_NEXT(LIST_NEXT(LIST_FIRST(&t.all), link), link));
	wv_tenants_finish(&t);
}

/* Serves whoever of two is next, each time for as long as that one takes. */
static void serve(struct wv_share *a, int64_t a_us, struct wv_share *b, int64_t b_us,
		  struct wv_share_clock *clock, unsigned int turns, int64_t got_us[2])
{
	while (turns--) {
		bool b_is_next = wv_share_before(b, a);

		wv_share_charge(b_is_next ? b : a, clock, b_is_next ? b_us : a_us);
		got_us[b_is_next] += b_is_next ? b_us : a_us;
	}
}

static void test_equal_time_for_unequal_work(void **state)
{
	struct wv_share_clock clock = {0};
	struct wv_share dear = {0}, cheap = {0};
	int64_t got_us[2] = {0};

	(void)state;
	serve(&dear, 1000, &cheap, 10, &clock, 10000, got_us);
	assert_in_range(got_us[0], got_us[1] - 1000, got_us[1] + 1000);
}

static void test_nobody_saves_up(void **state)
{
	struct wv_share_clock clock = {0};
	struct wv_share busy = {0}, late = {0};
	int64_t got_us[2] = {0};

	(void)state;
	serve(&busy, 10, &busy, 10, &clock, 100000, got_us);
	wv_share_join(&late, &clock);
	memset(got_us, 0, sizeof(got_us));
	serve(&busy, 10, &late, 10, &clock, 100, got_us);
	assert_in_range(got_us[0], 490, 510);
}

static void test_whoever_comes_last_finds_something(void **state)
{
	uint64_t used = 0;

	(void)state;
	assert_int_equal(wv_share_limit(1000, 0), 500);
	for (unsigned int i = 0; i < 8; i++) {
		assert_true(wv_share_limit(1000, used) > 0);
		used += wv_share_limit(1000, used);
	}
	assert_int_equal(wv_share_limit(1000, 1000), 0);
	assert_int_equal(wv_share_limit(1000, 2000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_lent_user_is_its_owner),
	    cmocka_unit_test(test_wrong_lines_are_left_out),
	    cmocka_unit_test(test_no_file_lends_nothing),
	    cmocka_unit_test(test_one_tenant_for_each_owner_and_container),
	    cmocka_unit_test(test_equal_time_for_unequal_work),
	    cmocka_unit_test(test_nobody_saves_up),
	    cmocka_unit_test(test_whoever_comes_last_finds_something),
	};

	return cmocka_run_group_tests_name("tenants", tests, NULL, NULL);
}
