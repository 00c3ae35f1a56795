/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of one lease: sealed, and nothing beside it within reach. */
#include "cmdlog/arena.h"

#include "fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Whether @bytes at @address can be read as the kernel would pin them. */
static bool is_there(const uint8_t *address, size_t bytes)
{
	wv_auto_free uint8_t *copy = malloc(bytes);
	struct iovec to = {copy, bytes}, from = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

/* Whether it can be written, by a system call: a fault is EFAULT then, and no signal. */
static bool is_writable(uint8_t *address)
{
	int ends[2];
	bool ok;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	ok = read(ends[0], address, 1) == 1;
	assert_true(ok || errno == EFAULT);
	close(ends[0]);
	close(ends[1]);
	return ok;
}

static void test_nothing_is_made_of_nothing(void **state)
{
	unsigned int fds = count_fds();
	struct wv_arena a;

	(void)state;
	assert_int_equal(wv_arena_make(&a, 0), 0);
	assert_null(a.base);
	assert_int_equal(wv_arena_finish(&a), -1);
	assert_int_equal(wv_arena_make(&a, WV_CMDLOG_MAX_MEMORY + 1ull), -E2BIG);
	assert_int_equal(wv_arena_make(&a, UINT64_MAX), -E2BIG);
	assert_int_equal(wv_arena_finish(&a), -1);
	assert_int_equal(count_fds(), fds);
}

/* It can shrink, and further seals can be added: the daemon takes the pages back by that. */
static void test_it_cannot_grow(void **state)
{
	struct wv_arena a;
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(wv_arena_make(&a, 4 * page()), 0);
	fd = wv_arena_finish(&a);
	assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_GROW);
	assert_int_equal(ftruncate(fd, (off_t)(8 * page())), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 4 * page());
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

/* Also where another mapping happens to be beside. */
static void test_nobody_reaches_beyond(void **state)
{
	struct wv_arena a, b;

	(void)state;
	assert_int_equal(wv_arena_make(&a, 2 * page()), 0);
	assert_int_equal(wv_arena_make(&b, 2 * page()), 0);
	assert_true(is_there(a.base, 2 * page()));
	assert_true(is_writable(a.base));
	assert_true(is_writable(a.base + 2 * page() - 1));
	assert_false(is_there(a.base, 2 * page() + 1));
	assert_false(is_there(a.base - 1, 1));
	assert_false(is_writable(a.base - 1));
	assert_false(is_writable(a.base + 2 * page()));
	assert_false(is_writable(b.base - 1));
	close(wv_arena_finish(&a));
	close(wv_arena_finish(&b));
}

static void test_it_is_zeroed_and_stays_when_it_is_unmapped(void **state)
{
	struct wv_arena a;
	uint8_t *base, byte;
	int fd;

	(void)state;
	assert_int_equal(wv_arena_make(&a, 3 * page()), 0);
	base = a.base;
	for (size_t i = 0; i < 3 * page(); i++)
		assert_int_equal(base[i], 0);
	base[2 * page()] = 0x5a;
	fd = wv_arena_finish(&a);
	assert_null(a.base);
	assert_false(is_there(base, 1));
	assert_int_equal(pread(fd, &byte, 1, (off_t)(2 * page())), 1);
	assert_int_equal(byte, 0x5a);
	close(fd);
}

/* Offset 0 is no memory; each begins a page of its own. */
static void test_taking(void **state)
{
	uint32_t first = 0, second = 0, third = 0;
	struct wv_arena a;

	(void)state;
	assert_int_equal(wv_arena_make(&a, 5 * page()), 0);
	assert_int_equal(wv_arena_take(&a, 1, &first), 0);
	assert_int_equal(first, page());
	assert_int_equal(wv_arena_take(&a, page() + 1, &second), 0);
	assert_int_equal(second, 2 * page());
	assert_int_equal(wv_arena_take(&a, page() + 1, &third), -ENOSPC);
	assert_int_equal(wv_arena_take(&a, page(), &third), 0);
	assert_int_equal(third, 4 * page());
	assert_int_equal(wv_arena_take(&a, 1, &third), -ENOSPC);
	close(wv_arena_finish(&a));
}

/* A recipe of memory of these sizes. */
static struct wv_cmdlog *recipe_with(const uint64_t *sizes, size_t n)
{
	static _Alignas(8) uint8_t memory[WV_CMDLOG_MAX_BYTES];
	struct wv_cmdlog_writer w;

	wv_cmdlog_begin(&w, memory, sizeof(memory), WV_RECIPE, RDMA_DRIVER_MLX5);
	for (size_t i = 0; i < n; i++) {
		struct wv_step *step = wv_cmdlog_step(
		    &w, wv_abi_find(WV_ANY_DRIVER, WV_OBJECT_MEMORY, 0, WV_NO_WRITE_CMD), 1);

		wv_step_attrs(step)[0] =
		    (struct wv_attr){.id = WV_ATTR_MEMORY_SIZE,
				     .len = sizeof(uint64_t),
				     .kind = WV_EQUAL,
				     .payload = wv_cmdlog_payload(&w, &sizes[i], sizeof(uint64_t))};
		wv_cmdlog_commit(&w);
	}
	return w.cmdlog;
}

static void test_how_much_a_recipe_needs(void **state)
{
	const uint64_t small[] = {1, page(), page() + 1};
	const uint64_t most[] = {WV_CMDLOG_MAX_MEMORY - page()};
	const uint64_t more[] = {WV_CMDLOG_MAX_MEMORY - page() + 1};
	uint64_t many[64];

	(void)state;
	assert_int_equal(wv_recipe_memory(recipe_with(small, 0)), 0);
	assert_int_equal(wv_recipe_memory(recipe_with(small, 3)), 5 * page());
	assert_int_equal(wv_recipe_memory(recipe_with(most, 1)), WV_CMDLOG_MAX_MEMORY);
	assert_true(wv_recipe_memory(recipe_with(more, 1)) > WV_CMDLOG_MAX_MEMORY);
	for (size_t i = 0; i < 64; i++) /* their sum is 0 in 64 bits */
		many[i] = 1ull << 58;
	assert_true(wv_recipe_memory(recipe_with(many, 64)) > WV_CMDLOG_MAX_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_is_made_of_nothing),
	    cmocka_unit_test(test_it_cannot_grow),
	    cmocka_unit_test(test_nobody_reaches_beyond),
	    cmocka_unit_test(test_it_is_zeroed_and_stays_when_it_is_unmapped),
	    cmocka_unit_test(test_taking),
	    cmocka_unit_test(test_how_much_a_recipe_needs),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
