/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All descriptors of a uverbs file name the same file, in any process and under any number. The
 * file lives as long as one of them or a mapping of it.
 */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* One command on a bare descriptor, without the library: the handle of a new PD, or -errno. */
static int raw_alloc_pd(int fd)
{
	struct ib_uverbs_alloc_pd_resp resp = {0};
	struct mlx5_ib_alloc_pd_resp driver = {0};
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[4];
	} cmd = {.header = {.length = sizeof(cmd),
			    .object_id = UVERBS_OBJECT_DEVICE,
			    .method_id = UVERBS_METHOD_INVOKE_WRITE,
			    .num_attrs = 4,
			    .driver_id = RDMA_DRIVER_MLX5}};

	cmd.attrs[0] = (struct ib_uverbs_attr){
	    .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = IB_USER_VERBS_CMD_ALLOC_PD};
	cmd.attrs[1] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_CORE_IN, .len = 8};
	cmd.attrs[2] = (struct ib_uverbs_attr){
	    .attr_id = UVERBS_ATTR_CORE_OUT, .len = sizeof(resp), .data = (uintptr_t)&resp};
	cmd.attrs[3] = (struct ib_uverbs_attr){
	    .attr_id = UVERBS_ATTR_UHW_OUT, .len = sizeof(driver), .data = (uintptr_t)&driver};
	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd) ? -errno : (int)resp.pd_handle;
}

static bool is_node(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(231, 192);
}

/* A descriptor number that the children of a test expect. */
#define FAR_FD 77

static void test_dup(void **state)
{
	struct ibv_context *context = open_device();
	int copy = fcntl(context->cmd_fd, F_DUPFD_CLOEXEC, 40);
	int over = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(is_node(copy));
	assert_int_equal(raw_alloc_pd(copy), 1); /* handle 0 is the region that open made */
	/* The number becomes another file, and then another again. */
	assert_false(is_node(over));
	assert_int_equal(dup2(copy, over), over);
	assert_true(is_node(over));
	assert_int_equal(raw_alloc_pd(over), 2);
	close(over);
	assert_int_equal(open("/dev/null", O_RDWR | O_CLOEXEC), over);
	assert_false(is_node(over));
	assert_int_equal(raw_alloc_pd(over), -ENOTTY);
	close(over);
	/* The copy keeps the file alive, without mappings. */
	ibv_close_device(context);
	assert_int_equal(count_objects("pd"), 2);
	close(copy);
	wait_objects("ufiles", 0);
}

/* dup2() of another ufile over a descriptor. */
static void test_dup_over_another(void **state)
{
	struct ibv_context *a = open_device(), *b = open_device();

	(void)state;
	assert_int_equal(raw_alloc_pd(a->cmd_fd), 1);
	assert_int_equal(dup2(b->cmd_fd, a->cmd_fd), a->cmd_fd);
	assert_int_equal(raw_alloc_pd(a->cmd_fd), 1);
	assert_int_equal(raw_alloc_pd(b->cmd_fd), 2);
	ibv_close_device(b);
	ibv_close_device(a);
	wait_objects("ufiles", 0);
}

static void test_fork(void **state)
{
	struct ibv_context *context = open_device();
	pid_t child;

	(void)state;
	assert_int_equal(raw_alloc_pd(context->cmd_fd), 1);
	child = fork();
	if (!child)
		_exit(raw_alloc_pd(context->cmd_fd) == 2 ? 0 : 1);
	must_succeed(child);
	assert_int_equal(raw_alloc_pd(context->cmd_fd), 3);
	ibv_close_device(context);
	wait_objects("ufiles", 0);
}

/* Both at once: each gets its own answers. */
static void test_fork_at_once(void **state)
{
	struct ibv_context *context = open_device();
	pid_t child = fork();

	(void)state;
	for (int i = 0; i < 500; i++) {
		int handle = raw_alloc_pd(context->cmd_fd);

		if (!child && handle < 1)
			_exit(1);
		assert_true(handle >= 1);
	}
	if (!child)
		_exit(0);
	must_succeed(child);
	assert_int_equal(count_objects("pd"), 1000);
	ibv_close_device(context);
	wait_objects("ufiles", 0);
}

static void test_exec(void **state)
{
	struct ibv_context *context = open_device();
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		dup2(context->cmd_fd, FAR_FD);
		execl("/proc/self/exe", "child", "use", NULL);
		_exit(127);
	}
	must_succeed(child);
	assert_int_equal(count_objects("pd"), 1);
	ibv_close_device(context);
	wait_objects("ufiles", 0);
}

static int run_child(void)
{
	return is_node(FAR_FD) && raw_alloc_pd(FAR_FD) == 1 ? 0 : 1;
}

/* One process makes it and ends, another goes on using it. */
static void test_passed(void **state)
{
	int pair[2], fd;
	pid_t child;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	child = fork();
	if (!child) {
		struct ibv_context *context = open_device();

		raw_alloc_pd(context->cmd_fd);
		send_fds(pair[1], &context->cmd_fd, 1);
		_exit(0);
	}
	must_succeed(child);
	close(pair[1]);
	/* A descriptor in a message keeps it alive. */
	assert_int_equal(count_objects("pd"), 1);
	receive_fds(pair[0], &fd, 1);
	assert_true(is_node(fd));
	assert_int_equal(raw_alloc_pd(fd), 2);
	close(fd);
	close(pair[0]);
	wait_objects("ufiles", 0);
}

static void test_last_close(void **state)
{
	struct kit kit;
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		open_kit(&kit);
		must_make_qp(&kit, RC);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	wait_objects("ufiles", 0);
	assert_int_equal(count_objects("qp"), 0);
	assert_int_equal(count_objects("pinned_pages"), 0);
}

/* A mapped page of the device holds the file, and so keeps all objects. */
static void test_mapping_keeps(void **state)
{
	struct ibv_context *context = open_device();
	int fd = fcntl(context->cmd_fd, F_DUPFD_CLOEXEC, 40);
	void *page;

	(void)state;
	assert_int_equal(raw_alloc_pd(fd), 1);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x500000);
	assert_ptr_not_equal(page, MAP_FAILED);
	ibv_close_device(context);
	assert_int_equal(count_objects("mapped"), 1);
	assert_int_equal(count_objects("kept_by_mappings"), 0);
	close(fd);
	wait_objects("kept_by_mappings", 1);
	assert_int_equal(count_objects("pd"), 1);
	munmap(page, 4096);
	wait_objects("ufiles", 0);
	assert_int_equal(count_objects("pd"), 0);
}

/* Also in a child that never gave a command. */
static void test_inherited_mapping_keeps(void **state)
{
	struct ibv_context *context = open_device();
	int pair[2];
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	child = fork();
	if (!child) {
		close(context->cmd_fd);
		close(pair[0]);
		if (write(pair[1], "", 1) != 1 || read(pair[1], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(read(pair[0], &byte, 1), 1);
	ibv_close_device(context);
	wait_objects("kept_by_mappings", 1);
	close(pair[0]);
	must_succeed(child);
	wait_objects("ufiles", 0);
}

/* Queues. */

static void *arena;

static struct ibv_cq *make_cq_in_arena(struct ibv_context *context)
{
	place_queues(context, arena);
	return ibv_create_cq(context, 10, NULL, NULL, 0);
}

/* @closed: the maker has only the mapping of the memory, no descriptor. */
static void check_outlives_maker(bool closed)
{
	size_t bytes = 1 << 20;
	int memory = memfd_create("queues", MFD_CLOEXEC), pair[2], fd;
	pid_t child;

	assert_int_equal(ftruncate(memory, (off_t)bytes), 0);
	arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	child = fork();
	if (!child) {
		struct ibv_context *context = open_device();

		if (closed)
			close(memory);
		if (!make_cq_in_arena(context))
			_exit(1);
		send_fds(pair[1], &context->cmd_fd, 1);
		_exit(0);
	}
	must_succeed(child);
	receive_fds(pair[0], &fd, 1);
	assert_int_equal(count_objects("cq"), 1);
	assert_int_equal(count_objects("kept_by_mappings"), 0);
	assert_true(count_objects("pinned_pages") > 0);
	/* Another queue in the same pages is refused, although this process never pinned them. */
	{
		struct ibv_context *context = open_device();

		assert_null(make_cq_in_arena(context));
		assert_int_equal(errno, EEXIST);
		ibv_close_device(context);
	}
	close(fd);
	wait_objects("ufiles", 0);
	{
		struct ibv_context *context = open_device();
		struct ibv_cq *cq = make_cq_in_arena(context);

		assert_non_null(cq);
		ibv_destroy_cq(cq);
		ibv_close_device(context);
	}
	munmap(arena, bytes);
	close(memory);
	close(pair[0]);
	close(pair[1]);
}

/* A queue in shared memory outlives the process that made it: the device and we have its pages. */
static void test_shared_queue_outlives_maker(void **state)
{
	(void)state;
	check_outlives_maker(false);
}

static void test_shared_queue_without_descriptor(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* only a privileged server can open the file of a mapping */
	check_outlives_maker(true);
}

/* Some destroy what they made, some just end, and some are killed. */
static void work_and_end(int how)
{
	struct ibv_qp *qp = NULL;
	struct kit kit;

	for (int i = 0; i < 5; i++) {
		open_kit(&kit);
		qp = must_make_qp(&kit, RC);
		if (i == 4)
			break;
		ibv_destroy_qp(qp);
		close_kit(&kit);
	}
	if (how == 1)
		_exit(0);
	if (how == 2)
		raise(SIGKILL);
	ibv_destroy_qp(qp);
	close_kit(&kit);
	_exit(0);
}

static void test_many_processes(void **state)
{
	static const char *const kinds[] = {"qp",  "cq",       "srq",	      "pd",
					    "uar", "channels", "async_files", "pinned_pages"};
	int status;

	(void)state;
	for (int i = 0; i < 18; i++) {
		if (!fork())
			work_and_end(i % 3);
	}
	while (wait(&status) > 0)
		assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	wait_objects("ufiles", 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(count_objects(kinds[i]), 0);
}

/* A program may close whatever it did not open itself. */
static void test_close_everything(void **state)
{
	struct ibv_context *context = open_device();
	pid_t child = fork();

	(void)state;
	if (!child) {
		dup2(context->cmd_fd, 3);
		closefrom(4);
		_exit(raw_alloc_pd(3) == 1 ? 0 : 1);
	}
	must_succeed(child);
	ibv_close_device(context);
	wait_objects("ufiles", 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_dup),
	    cmocka_unit_test(test_dup_over_another),
	    cmocka_unit_test(test_fork),
	    cmocka_unit_test(test_fork_at_once),
	    cmocka_unit_test(test_exec),
	    cmocka_unit_test(test_passed),
	    cmocka_unit_test(test_last_close),
	    cmocka_unit_test(test_mapping_keeps),
	    cmocka_unit_test(test_inherited_mapping_keeps),
	    cmocka_unit_test(test_shared_queue_outlives_maker),
	    cmocka_unit_test(test_shared_queue_without_descriptor),
	    cmocka_unit_test(test_many_processes),
	    cmocka_unit_test(test_close_everything),
	};

	(void)argv;
	return argc > 1 ? run_child() : cmocka_run_group_tests(tests, NULL, NULL);
}
