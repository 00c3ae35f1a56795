/* SPDX-License-Identifier: BSD-2-Clause */
/* Pauses between attempts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/backoff.h"

#include <limits.h>

static void test_doubles_up_to_the_longest(void **state)
{
	(void)state;
	assert_int_equal(wv_backoff(100, 1000, 1), 100);
	assert_int_equal(wv_backoff(100, 1000, 2), 200);
	assert_int_equal(wv_backoff(100, 1000, 3), 400);
	assert_int_equal(wv_backoff(100, 1000, 4), 800);
	assert_int_equal(wv_backoff(100, 1000, 5), 1000);
	assert_int_equal(wv_backoff(100, 1000, 6), 1000);
}

static void test_a_power_of_two_is_reached(void **state)
{
	(void)state;
	assert_int_equal(wv_backoff(1000, 64000, 7), 64000);
	assert_int_equal(wv_backoff(1000, 64000, 8), 64000);
}

static void test_one_length(void **state)
{
	(void)state;
	for (unsigned int failures = 1; failures < 5; failures++)
		assert_int_equal(wv_backoff(7, 7, failures), 7);
}

static void test_any_number_of_failures(void **state)
{
	(void)state;
	assert_int_equal(wv_backoff(100, 1000, UINT_MAX), 1000);
	assert_true(wv_backoff(3, UINT64_MAX, UINT_MAX) == UINT64_MAX);
	assert_true(wv_backoff(1, UINT64_MAX, 64) == UINT64_C(1) << 63);
	assert_true(wv_backoff(1, UINT64_MAX, 65) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_doubles_up_to_the_longest),
	    cmocka_unit_test(test_a_power_of_two_is_reached),
	    cmocka_unit_test(test_one_length),
	    cmocka_unit_test(test_any_number_of_failures),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
