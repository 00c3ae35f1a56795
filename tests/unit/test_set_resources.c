/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptors of sets that a child does not get. */
#include "preload/prefork/set_resources.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/process.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { FIRST = 100, N = 140, OTHERS = FIRST + N };
enum { CHANNEL = 2 }; /* of a set: as a completion channel, an anonymous file to read from */
enum { NODE = 4 };    /* as the node of a device, which may be open more than once */
_Static_assert(N > WV_LEFT_FILES, "more than are closed at once");

static const struct wv_fd_owner owner;
static struct wv_resources sets[(N + WV_RESOURCES_FDS - 1) / WV_RESOURCES_FDS];

static void move(int fd, int number)
{
	assert_int_equal(dup2(fd, number), number);
	close(fd);
}

static void open_at(const char *path, int number)
{
	move(open(path, O_RDONLY | O_CLOEXEC), number);
}

/* As many sets as it takes, at consecutive numbers. */
static int make_sets(void **state)
{
	(void)state;
	memset(sets, 0, sizeof(sets));
	for (int i = 0; i < N; i++) {
		struct wv_resources *set = &sets[i / WV_RESOURCES_FDS];

		set->owner = &owner;
		if (i % WV_RESOURCES_FDS == CHANNEL)
			move(inotify_init1(IN_CLOEXEC), FIRST + (i ^ 1));
		else
			open_at("/dev/null", FIRST + (i ^ 1)); /* as libibverbs does */
		wv_resources_opened(set, FIRST + (i ^ 1));
		assert_false(set->lost);
	}
	open_at("/dev/null", OTHERS);
	return 0;
}

static int end_sets(void **state)
{
	(void)state;
	for (int fd = FIRST; fd <= OTHERS; fd++) {
		wv_fd_untrack(fd);
		close(fd);
	}
	return 0;
}

static void leave(bool each)
{
	struct wv_left_files files = {.each = each};

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(sets); i++)
		wv_resources_leave(&sets[i], WV_RANGE_ALL, &files);
	wv_left_files_close(&files);
}

static void leave_all(void)
{
	leave(false);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_all_are_closed_and_nothing_else(void **state)
{
	(void)state;
	leave_all();
	for (int fd = FIRST; fd < OTHERS; fd++)
		assert_false(is_open(fd));
	assert_true(is_open(OTHERS));
	assert_int_equal(wv_n_fds, 0);
}

/* That file is left, and all others are closed and forgotten. */
static void assert_only_left(int number)
{
	for (int fd = FIRST; fd < OTHERS; fd++) {
		assert_int_equal(is_open(fd), fd == number);
		assert_true(fd == number || wv_fd_get(fd).kind == WV_FD_NONE);
	}
}

static void test_a_gap(void **state)
{
	(void)state;
	wv_resources_lose_fd(&sets[0], FIRST + 2);
	leave_all();
	assert_only_left(FIRST + 2);
}

/* The program closed all from @first to @last, and has two files at the lowest numbers of these. */
static void sweep(int first, int last)
{
	for (int fd = first; fd <= last; fd++)
		close(fd);
	open_at("/dev/zero", first);
	open_at("/dev/zero", first + 1);
	leave_all();
	for (int fd = FIRST; fd < OTHERS; fd++) {
		assert_int_equal(is_open(fd), fd == first || fd == first + 1);
		assert_true((fd >= first && fd <= last) || wv_fd_get(fd).kind == WV_FD_NONE);
	}
	assert_true(is_open(OTHERS));
}

static void test_a_program_closed_all(void **state)
{
	(void)state;
	sweep(FIRST, OTHERS - 1);
}

static void test_a_program_closed_the_higher(void **state)
{
	(void)state;
	sweep(FIRST + 5, OTHERS - 1);
}

static void test_a_program_closed_the_lower(void **state)
{
	(void)state;
	sweep(FIRST, FIRST + 5);
}

/*
 * The program has put two files at the last numbers of a set. Before anybody looks, a new set is
 * made at the numbers behind these: of the run that all these numbers are, both ends are there.
 */
static void test_a_set_made_since(void **state)
{
	struct wv_left_files seen = {.n = 0}, unseen = {.each = true};
	struct wv_resources late = {.owner = &owner};
	int first = FIRST + WV_RESOURCES_FDS - 2, behind = FIRST + 2 * WV_RESOURCES_FDS;

	(void)state;
	for (int fd = first; fd <= OTHERS; fd++)
		close(fd);
	open_at("/dev/zero", first);
	open_at("/dev/zero", first + 1);
	for (int fd = first + 2; fd < behind; fd++) {
		open_at("/dev/null", fd);
		wv_context_lose_number(fd, -1);
		wv_resources_opened(&late, fd);
	}
	wv_resources_leave(&sets[0], WV_RANGE_ALL, &seen);
	wv_resources_leave(&late, WV_RANGE_ALL, &unseen);
	wv_left_files_close(&seen);
	wv_left_files_close(&unseen);
	for (int fd = FIRST; fd < behind; fd++)
		assert_int_equal(is_open(fd), fd == first || fd == first + 1);
}

/* Of these, only a look ahead tells, or one at each. */
static void test_a_program_replaced_one(void **state)
{
	(void)state;
	open_at("/dev/zero", FIRST + 3);
	assert_false(wv_resources_are_there(&sets[0]));
	leave_all();
	assert_only_left(FIRST + 3);
}

static void test_a_child_replaced_one(void **state)
{
	(void)state;
	open_at("/dev/zero", FIRST + 3);
	leave(true);
	assert_only_left(FIRST + 3);
}

static void never_ends(struct wv_context *c)
{
	(void)c;
	fail();
}

/* Events of a lease: the same file at the same number is the set's if its own context made it. */
static void test_the_kernel_gave_a_number_of_a_lease(void **state)
{
	struct wv_scope scope = {.opening = false};
	struct wv_context *c = wv_context_new(&scope, never_ends);
	struct wv_resources leased = {.owner = &owner};

	(void)state;
	for (int fd = FIRST; fd < FIRST + 2; fd++) {
		open_at("/dev/null", fd);
		wv_fd_untrack(fd);
		assert_true(wv_context_track(c, fd, fd == FIRST ? WV_FD_COMMAND : WV_FD_EVENTS, 0));
		wv_resources_opened(&leased, fd);
	}
	wv_context_lose_number(FIRST + 1, FIRST);
	assert_true(wv_resources_are_there(&leased));
	wv_context_lose_number(FIRST + 1, OTHERS);
	assert_false(wv_resources_are_there(&leased));
	wv_context_lose_number(FIRST, OTHERS);
	assert_int_equal(wv_fd_get(FIRST).kind, WV_FD_NONE);
}

/* The same file as that of the set, at the same number: only this library can tell. */
static void test_the_program_opened_the_device(void **state)
{
	(void)state;
	close(FIRST + NODE);
	open_at("/dev/null", FIRST + NODE);
	wv_fd_track(FIRST + NODE, (struct wv_fd_entry){.kind = WV_FD_COMMAND});
	leave_all();
	assert_true(is_open(FIRST + NODE));
	assert_int_equal(wv_fd_get(FIRST + NODE).kind, WV_FD_COMMAND);
	assert_false(wv_resources_are_there(&sets[0]));
}

static void test_another_set_at_the_same_number(void **state)
{
	struct wv_resources late = {.owner = &owner};

	(void)state;
	close(FIRST + NODE);
	open_at("/dev/null", FIRST + NODE);
	wv_context_lose_number(FIRST + NODE, -1);
	wv_resources_opened(&late, FIRST + NODE);
	assert_false(wv_resources_are_there(&sets[0]));
	assert_true(wv_resources_are_there(&late));
}

/* Its inode is that of the completion channel. */
static void test_another_anonymous_file(void **state)
{
	(void)state;
	move(eventfd(0, EFD_CLOEXEC), FIRST + (CHANNEL ^ 1));
	assert_false(wv_resources_are_there(&sets[0]));
	leave_all();
	assert_only_left(FIRST + (CHANNEL ^ 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_all_are_closed_and_nothing_else, make_sets,
					    end_sets),
	    cmocka_unit_test_setup_teardown(test_a_gap, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_a_program_closed_all, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_a_program_closed_the_higher, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_a_program_closed_the_lower, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_a_set_made_since, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_a_program_replaced_one, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_a_child_replaced_one, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_another_anonymous_file, make_sets, end_sets),
	    cmocka_unit_test_setup_teardown(test_the_kernel_gave_a_number_of_a_lease, make_sets,
					    end_sets),
	    cmocka_unit_test_setup_teardown(test_the_program_opened_the_device, make_sets,
					    end_sets),
	    cmocka_unit_test_setup_teardown(test_another_set_at_the_same_number, make_sets,
					    end_sets),
	};

	wv_process_adopt();
	return cmocka_run_group_tests_name("set_resources", tests, NULL, NULL);
}
