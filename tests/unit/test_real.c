/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of libraries that the program loads for itself. */
#include "preload/core/real.h"

#include "fixture.h"

#include <dlfcn.h>

#define LIBRARY "librdmacm.so.1"
#define NAME	"rdma_create_id"
#define VERSION "RDMACM_1.0"

static bool is_loaded(void)
{
	void *handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

/* RTLD_NEXT does not find what was loaded RTLD_LOCAL. */
static void *load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);

	assert_non_null(handle);
	assert_null(dlvsym(RTLD_NEXT, NAME, VERSION));
	return handle;
}

static void test_what_is_not_loaded(void **state)
{
	(void)state;
	assert_null(wv_real_symbol(LIBRARY, NAME, VERSION));
	assert_false(is_loaded());
}

static void test_the_program_can_unload_it(void **state)
{
	void *handle = load();

	(void)state;
	assert_ptr_equal(wv_real_symbol(LIBRARY, NAME, VERSION), dlvsym(handle, NAME, VERSION));
	assert_non_null(wv_real_symbol(LIBRARY, NAME, VERSION));
	assert_null(wv_real_symbol(LIBRARY, "no_such_function", VERSION));
	assert_int_equal(dlclose(handle), 0);
	assert_false(is_loaded());
}

static void test_what_lasts(void **state)
{
	void *handle = load();

	(void)state;
	assert_non_null(wv_real_lasting_symbol(LIBRARY, NAME, VERSION));
	assert_int_equal(dlclose(handle), 0);
	assert_true(is_loaded());
}

int main(void)
{
	/* In this order: what lasts stays. */
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_is_not_loaded),
	    cmocka_unit_test(test_the_program_can_unload_it),
	    cmocka_unit_test(test_what_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
