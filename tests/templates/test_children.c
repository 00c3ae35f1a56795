/* SPDX-License-Identifier: BSD-2-Clause */
/* How many children wait for starts, and when more are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "template/control.h"
#include "template/supervisor/child_memory.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MOST	    64
#define MUCH_BYTES  (UINT64_C(1) << 30)
#define SETTLED_US  100000
#define PATIENCE_US 10000

/* How many children the template is told to make where @n of @target wait; 0: told nothing. */
static int ordered(uint32_t n, uint32_t target)
{
	struct wv_children c = {.n = n};
	struct wv_control make = {0};
	int ends[2];

	assert_false(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
	if (!wv_children_suffice(&c, target))
		wv_children_order(&c, ends[0], target);
	if (recv(ends[1], &make, sizeof(make), MSG_DONTWAIT) > 0)
		assert_int_equal(make.word, WV_CONTROL_MAKE);
	assert_int_equal(c.is_making, make.word == WV_CONTROL_MAKE);
	close(ends[0]);
	close(ends[1]);
	return make.value;
}

static void test_four_wait_at_least(void **state)
{
	(void)state;
	assert_int_equal(wv_children_target(0, MOST, 0), 4);
	assert_int_equal(wv_children_target(1, MOST, 0), 4);
	assert_int_equal(wv_children_target(4, MOST, 0), 4);
	assert_int_equal(wv_children_target(5, MOST, 0), 5);
}

static void test_no_more_than_the_most(void **state)
{
	(void)state;
	for (uint32_t most = 1; most < 8; most++) {
		assert_int_equal(wv_children_target(0, most, 0), most < 4 ? most : 4);
		assert_int_equal(wv_children_target(100, most, 0), most);
	}
}

static void test_descriptors_are_left(void **state)
{
	struct rlimit limit;

	(void)state;
	assert_false(getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 100;
	assert_false(setrlimit(RLIMIT_NOFILE, &limit));
	assert_int_equal(wv_children_target(4, MOST, 100), 0);
	assert_int_equal(wv_children_target(4, MOST, 36), 0);
	assert_int_equal(wv_children_target(4, MOST, 33), 3);
}

/* Half of them at a time, or more. */
static void test_they_are_made_together(void **state)
{
	(void)state;
	assert_int_equal(ordered(0, 4), 4);
	assert_int_equal(ordered(1, 4), 3);
	assert_int_equal(ordered(2, 4), 2);
	assert_int_equal(ordered(3, 4), 0);
	assert_int_equal(ordered(4, 4), 0);
	assert_int_equal(ordered(9, 4), 0);
	assert_int_equal(ordered(33, 64), 0);
	assert_int_equal(ordered(32, 64), 32);
}

static void test_few(void **state)
{
	(void)state;
	assert_int_equal(ordered(0, 0), 0);
	assert_int_equal(ordered(0, 1), 1);
	assert_int_equal(ordered(1, 1), 0);
	assert_int_equal(ordered(1, 2), 1);
	assert_int_equal(ordered(1, 3), 2);
	assert_int_equal(ordered(2, 3), 0);
}

static pid_t new_child(bool sleeps)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the test fails */
	if (sleeps)
		pause();
	for (;;)
		;
}

static void kill_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* On a busy machine, a child is slow to write what it will have for itself. */
static void test_a_child_that_runs_says_nothing_of_memory(void **state)
{
	struct wv_child_memory m = {0};
	struct wv_children c = {0};
	pid_t runs = new_child(false), sleeps = new_child(true);

	(void)state;
	wv_children_add(&c, runs);
	usleep(SETTLED_US);
	assert_int_equal(wv_child_memory_most(&m, &c, MUCH_BYTES, MOST), 1);
	wv_children_end(&c, runs, 0);
	wv_children_add(&c, sleeps);
	while (wv_child_memory_most(&m, &c, MUCH_BYTES, MOST) == 1)
		usleep(PATIENCE_US);
	assert_int_equal(wv_child_memory_most(&m, &c, MUCH_BYTES, MOST), MOST);
	kill_child(runs);
	kill_child(sleeps);
}

/* A start that was over before it was heard of. */
static void test_a_child_that_has_ended_says_nothing_of_memory(void **state)
{
	struct wv_child_memory m = {.bytes = MUCH_BYTES / 2};
	struct wv_children c = {0};
	pid_t ended = new_child(true);
	siginfo_t end;

	(void)state;
	wv_children_add(&c, ended);
	c.waiting[0].since_ms = 0;
	kill(ended, SIGKILL);
	assert_false(waitid(P_PID, (id_t)ended, &end, WEXITED | WNOWAIT));
	assert_int_equal(wv_child_memory_most(&m, &c, MUCH_BYTES, MOST), 2);
	waitpid(ended, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_four_wait_at_least),
	    cmocka_unit_test(test_no_more_than_the_most),
	    cmocka_unit_test(test_descriptors_are_left),
	    cmocka_unit_test(test_they_are_made_together),
	    cmocka_unit_test(test_few),
	    cmocka_unit_test(test_a_child_that_runs_says_nothing_of_memory),
	    cmocka_unit_test(test_a_child_that_has_ended_says_nothing_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
