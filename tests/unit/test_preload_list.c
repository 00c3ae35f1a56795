/* SPDX-License-Identifier: BSD-2-Clause */
/* The list in LD_PRELOAD, as ld.so(8) reads it. */
#include "base/preload_list.h"

#include "fixture.h"

#define OURS "/lib/ours.so"

static void expect(const char *list, bool wanted, const char *expected)
{
	char *joined = wv_preload_list(list, OURS, wanted);

	assert_string_equal(joined, expected);
	free(joined);
}

static void test_an_empty_list(void **state)
{
	(void)state;
	expect(NULL, true, OURS);
	expect("", true, OURS);
	expect(" : ", true, OURS);
	expect(NULL, false, "");
	expect("", false, "");
}

static void test_others_stay_in_their_order(void **state)
{
	(void)state;
	expect("a.so b.so:/c.so", true, OURS ":a.so:b.so:/c.so");
	expect(":a.so  b.so:", true, OURS ":a.so:b.so");
	expect("a.so b.so:/c.so", false, "a.so:b.so:/c.so");
}

static void test_the_library_is_there_once_or_not_at_all(void **state)
{
	(void)state;
	expect(OURS, true, OURS);
	expect("a.so " OURS ":b.so " OURS, true, OURS ":a.so:b.so");
	expect("a.so " OURS ":b.so " OURS, false, "a.so:b.so");
	expect(OURS, false, "");
}

static void test_names_that_only_resemble_it(void **state)
{
	(void)state;
	expect(OURS ".0:" OURS "x:x" OURS, false, OURS ".0:" OURS "x:x" OURS);
}

static void test_paths_that_cannot_be_named(void **state)
{
	(void)state;
	assert_true(wv_preload_can_name(OURS));
	assert_false(wv_preload_can_name("/a folder/ours.so"));
	assert_false(wv_preload_can_name("/a:folder/ours.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_empty_list),
	    cmocka_unit_test(test_others_stay_in_their_order),
	    cmocka_unit_test(test_the_library_is_there_once_or_not_at_all),
	    cmocka_unit_test(test_names_that_only_resemble_it),
	    cmocka_unit_test(test_paths_that_cannot_be_named),
	};

	return cmocka_run_group_tests_name("preload_list", tests, NULL, NULL);
}
