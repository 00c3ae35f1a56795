/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that a recorded program's provider allocated. */
#include "cmdlog/record.h"

#include "fixture.h"

/* Addresses are only compared, so nothing has to be there. */
static const void *at(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

static void test_found_by_any_address_inside(void **state)
{
	static struct wv_allocations a;

	(void)state;
	memset(&a, 0, sizeof(a));
	wv_allocations_add(&a, at(0x10000), 0x1000);
	wv_allocations_add(&a, at(0x30000), 100);
	assert_null(wv_allocations_find(&a, 0xffff));
	assert_int_equal(wv_allocations_find(&a, 0x10000)->id, 1);
	assert_int_equal(wv_allocations_find(&a, 0x10fff)->id, 1);
	assert_null(wv_allocations_find(&a, 0x11000));
	assert_int_equal(wv_allocations_find(&a, 0x30063)->id, 2);
	assert_null(wv_allocations_find(&a, 0x30064));
	assert_null(wv_allocations_find(&a, 0));
	assert_null(wv_allocations_find(&a, UINT64_MAX));
}

/* What is given back is not what is allocated there next. */
static void test_an_address_used_again_is_other_memory(void **state)
{
	static struct wv_allocations a;

	(void)state;
	memset(&a, 0, sizeof(a));
	wv_allocations_add(&a, at(0x10000), 0x1000);
	wv_allocations_find(&a, 0x10000)->recorded = true;
	wv_allocations_remove(&a, at(0x10000));
	assert_null(wv_allocations_find(&a, 0x10000));
	wv_allocations_add(&a, at(0x10000), 0x2000);
	assert_int_equal(wv_allocations_find(&a, 0x10000)->id, 2);
	assert_false(wv_allocations_find(&a, 0x10000)->recorded);
}

static void test_removing_leaves_the_others(void **state)
{
	static struct wv_allocations a;

	(void)state;
	memset(&a, 0, sizeof(a));
	for (uint64_t i = 1; i <= 5; i++)
		wv_allocations_add(&a, at(0x10000 * i), 0x1000);
	wv_allocations_remove(&a, at(0x20000));
	wv_allocations_remove(&a, at(0x20000)); /* twice */
	wv_allocations_remove(&a, at(0x30004)); /* inside, not its start */
	assert_int_equal(a.n, 4);
	for (uint64_t i = 1; i <= 5; i++) {
		struct wv_allocation *found = wv_allocations_find(&a, 0x10000 * i);

		assert_int_equal(found ? found->id : 0, i == 2 ? 0 : i);
	}
}

static void test_more_than_are_noted(void **state)
{
	static struct wv_allocations a;

	(void)state;
	memset(&a, 0, sizeof(a));
	for (uint64_t i = 1; i <= WV_MAX_ALLOCATIONS + 3; i++)
		wv_allocations_add(&a, at(0x10000 * i), 0x1000);
	assert_int_equal(a.n, WV_MAX_ALLOCATIONS);
	assert_int_equal(wv_allocations_find(&a, 0x10000 * WV_MAX_ALLOCATIONS)->id,
			 WV_MAX_ALLOCATIONS);
	assert_null(wv_allocations_find(&a, 0x10000 * (WV_MAX_ALLOCATIONS + 1)));
	wv_allocations_remove(&a, at(0x10000));
	wv_allocations_add(&a, at(0x900000000), 0x1000); /* room again */
	assert_non_null(wv_allocations_find(&a, 0x900000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_found_by_any_address_inside),
	    cmocka_unit_test(test_an_address_used_again_is_other_memory),
	    cmocka_unit_test(test_removing_leaves_the_others),
	    cmocka_unit_test(test_more_than_are_noted),
	};

	return cmocka_run_group_tests_name("allocations", tests, NULL, NULL);
}
