/* SPDX-License-Identifier: BSD-2-Clause */
/* A test can make any command fail with any errno, in any process. */
#include "shared_kit.h"

#include <errno.h>
#include <unistd.h>

static int make_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(kit.context, 1, NULL, NULL, 0);

	if (!cq)
		return errno;
	assert_int_equal(ibv_destroy_cq(cq), 0);
	return 0;
}

static void test_command(void **state)
{
	(void)state;
	tell("fail create_cq %d", ENOMEM);
	assert_int_equal(make_cq(), ENOMEM);
	assert_int_equal(make_cq(), 0);
}

/* After a failed firmware command, what the command had done before is undone. */
static void test_firmware(void **state)
{
	int64_t pages = count_objects("pinned_pages");

	(void)state;
	tell("fail CREATE_QP %d", EIO);
	assert_null(make_qp(&kit, RC));
	assert_int_equal(errno, EIO);
	assert_int_equal(count_objects("qp"), 0);
	assert_int_equal(count_objects("pinned_pages"), pages);
	assert_int_equal(ibv_destroy_qp(must_make_qp(&kit, RC)), 0);
}

static void test_nth_and_times(void **state)
{
	static const int want[] = {0, 0, EAGAIN, EAGAIN, 0};

	(void)state;
	tell("fail create_cq %d 3 2", EAGAIN);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(make_cq(), want[i]);
}

static void test_for_ever(void **state)
{
	(void)state;
	tell("fail create_cq %d 1 0", EPERM);
	for (int i = 0; i < 5; i++)
		assert_int_equal(make_cq(), EPERM);
	tell("clear");
	assert_int_equal(make_cq(), 0);
}

static void test_one_process(void **state)
{
	pid_t child;

	(void)state;
	tell("fail create_cq %d 1 0 %d", EIO, getpid());
	child = fork();
	if (!child) {
		kit.context = open_device();
		_exit(make_cq());
	}
	must_succeed(child);
	assert_int_equal(make_cq(), EIO);
	tell("clear");
}

/* If a destroy command fails, the object is still there. */
static void test_destroy(void **state)
{
	struct ibv_cq *cq = ibv_create_cq(kit.context, 1, NULL, NULL, 0);

	(void)state;
	tell("fail DESTROY_CQ %d", EINTR);
	assert_int_equal(ibv_destroy_cq(cq), EINTR);
	assert_int_equal(count_objects("cq"), 2);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

static void test_open(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)state;
	/* The library asks again and again, each time for less. */
	tell("fail get_context %d 1 0", ENOSPC);
	assert_null(ibv_open_device(list[0]));
	assert_int_equal(errno, ENOSPC);
	tell("clear");
	ibv_free_device_list(list);
	wait_objects("ufiles", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_command),	  cmocka_unit_test(test_firmware),
	    cmocka_unit_test(test_nth_and_times), cmocka_unit_test(test_for_ever),
	    cmocka_unit_test(test_one_process),	  cmocka_unit_test(test_destroy),
	    cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, set_up_kit, tear_down_kit);
}
