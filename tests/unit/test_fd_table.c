/* SPDX-License-Identifier: BSD-2-Clause */
/* Which descriptor numbers the preload tracks: few in a small table, others in one made later. */
#include "preload/core/fd_table.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <fcntl.h>

static const int numbers[] = {0, 7, WV_FEW_FDS - 1, WV_FEW_FDS, 5000, WV_MAX_FD - 1};
static int closed_fd;

static void note_closed(int fd)
{
	closed_fd = fd;
}

static void test_numbers_of_both_tables(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(numbers); i++) {
		struct wv_fd_entry entry = {
		    .kind = WV_FD_EVENTS, .slot = (uint8_t)i, .context = (uint16_t)(i + 1)};

		assert_int_equal(wv_fd_get(numbers[i]).kind, WV_FD_NONE);
		assert_true(wv_fd_track(numbers[i], entry));
	}
	assert_int_equal(wv_n_fds, WV_ARRAY_SIZE(numbers));
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(numbers); i++) {
		struct wv_fd_entry entry = wv_fd_get(numbers[i]);

		assert_int_equal(entry.kind, WV_FD_EVENTS);
		assert_int_equal(entry.slot, i);
		assert_int_equal(wv_fd_untrack(numbers[i]).context, i + 1);
		assert_int_equal(wv_fd_get(numbers[i]).kind, WV_FD_NONE);
	}
	assert_int_equal(wv_n_fds, 0);
}

static void test_numbers_that_are_not_tracked(void **state)
{
	struct wv_fd_entry entry = {.kind = WV_FD_COMMAND};

	(void)state;
	assert_false(wv_fd_track(-1, entry));
	assert_false(wv_fd_track(WV_MAX_FD, entry));
	assert_int_equal(wv_n_fds, 0);
	assert_int_equal(wv_fd_get(-1).kind, WV_FD_NONE);
	assert_int_equal(wv_fd_get(WV_MAX_FD).kind, WV_FD_NONE);
	assert_int_equal(wv_fd_untrack(WV_MAX_FD).kind, WV_FD_NONE);
}

static void test_private_descriptors_have_owners(void **state)
{
	static const struct wv_fd_owner silent, noting = {.closed = note_closed};

	(void)state;
	assert_true(wv_fd_hide(3, &silent));
	assert_true(wv_fd_hide(WV_FEW_FDS + 3, &noting));
	assert_ptr_equal(wv_fd_owner(wv_fd_get(3)), &silent);
	wv_fd_owner(wv_fd_get(WV_FEW_FDS + 3))->closed(11);
	assert_int_equal(closed_fd, 11);
	wv_fd_untrack(3);
	wv_fd_untrack(WV_FEW_FDS + 3);
	assert_int_equal(wv_n_fds, 0);
}

static void test_a_private_descriptor_is_closed_once(void **state)
{
	static const struct wv_fd_owner owner;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), number = fd;

	(void)state;
	assert_true(wv_fd_hide(fd, &owner));
	wv_fd_close_private(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(number, F_GETFD), -1);
	assert_int_equal(wv_fd_get(number).kind, WV_FD_NONE);
	wv_fd_close_private(&fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers_of_both_tables),
	    cmocka_unit_test(test_numbers_that_are_not_tracked),
	    cmocka_unit_test(test_private_descriptors_have_owners),
	    cmocka_unit_test(test_a_private_descriptor_is_closed_once),
	};

	return cmocka_run_group_tests_name("fd_table", tests, NULL, NULL);
}
