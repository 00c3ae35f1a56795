/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is shared while it is registered: which is, and what becomes of it. */
#include "preload/memory/shared_mr.h"

#include "base/base.h"
#include "base/mappings.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <infiniband/verbs.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct ibv_mr mr;
static char *at;
static size_t bytes;
static bool is_full; /* there is no memory for one more registration */

/* Of the library too, since it is linked into this program. */
void *tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
	static const void *only;

	if (is_full)
		return NULL;
	(void)compare;
	only = key;
	*root = &only;
	return root;
}

void *tfind(const void *key, void *const *root, int (*compare)(const void *, const void *))
{
	(void)key;
	(void)compare;
	return *root;
}

void *tdelete(const void *restrict key, void **restrict root,
	      int (*compare)(const void *, const void *))
{
	(void)key;
	(void)compare;
	*root = NULL;
	return &is_full;
}

static int map(void **state)
{
	(void)state;
	is_full = false;
	bytes = 2 * wv_page_size();
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	memset(at, 'p', bytes);
	return 0;
}

static int unmap(void **state)
{
	(void)state;
	return munmap(at, bytes);
}

static bool is_shared(void)
{
	struct wv_mapping *m;
	size_t n = wv_mappings_read((uintptr_t)at, (uintptr_t)at + bytes, &m);
	bool shared = n == 1 && m[0].is_shared;

	free(m);
	return shared;
}

static void registered(void)
{
	wv_shared_mr_keep(wv_shared_mr_take(at, bytes), &mr);
}

static void deregistered(void)
{
	wv_shared_mr_keep(wv_shared_mr_of(&mr), NULL);
}

static void test_shared_while_it_is_registered(void **state)
{
	(void)state;
	registered();
	assert_true(is_shared());
	deregistered();
	assert_false(is_shared());
	assert_int_equal(at[bytes - 1], 'p');
}

/* The adapter has the shared pages, so the program must keep them. */
static void test_without_memory_for_a_note(void **state)
{
	(void)state;
	is_full = true;
	registered();
	assert_true(is_shared());
	assert_null(wv_shared_mr_of(&mr));
}

static void test_a_registration_that_failed(void **state)
{
	(void)state;
	wv_shared_mr_keep(wv_shared_mr_take(at, bytes), NULL);
	assert_false(is_shared());
}

static void test_what_would_lose_something(void **state)
{
	(void)state;
	assert_int_equal(madvise(at, bytes, MADV_DONTDUMP), 0);
	registered();
	assert_false(is_shared());
	deregistered();
	assert_int_equal(madvise(at, bytes, MADV_DODUMP), 0);
	assert_int_equal(syscall(SYS_mlock, at, bytes),
			 0); /* sanitizers have an mlock() that does nothing */
	registered();
	assert_false(is_shared());
	deregistered();
	assert_int_equal(syscall(SYS_munlock, at, bytes), 0);
	assert_int_equal(mprotect(at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	registered();
	assert_false(is_shared());
	deregistered();
}

/* The program has protected it since, perhaps so that nobody can read it. */
static void test_protected_while_it_is_registered(void **state)
{
	(void)state;
	registered();
	assert_int_equal(mprotect(at, bytes, PROT_NONE), 0);
	deregistered();
	assert_true(is_shared());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_shared_while_it_is_registered, map, unmap),
	    cmocka_unit_test_setup_teardown(test_without_memory_for_a_note, map, unmap),
	    cmocka_unit_test_setup_teardown(test_a_registration_that_failed, map, unmap),
	    cmocka_unit_test_setup_teardown(test_what_would_lose_something, map, unmap),
	    cmocka_unit_test_setup_teardown(test_protected_while_it_is_registered, map, unmap),
	};

	return cmocka_run_group_tests_name("shared_mr", tests, NULL, NULL);
}
