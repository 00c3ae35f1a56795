/* SPDX-License-Identifier: BSD-2-Clause */
/* The device can be found, opened and queried. */
#include "kit.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NODE "/dev/infiniband/uverbs0"

static void test_list(void **state)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	(void)state;
	assert_int_equal(n, 1);
	assert_string_equal(ibv_get_device_name(list[0]), "mlx5_0");
	assert_int_equal(be64toh(ibv_get_device_guid(list[0])), 0x0200000000000001);
	assert_int_equal(list[0]->node_type, IBV_NODE_CA);
	ibv_free_device_list(list);
}

static void test_node(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(stat(NODE, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(access(NODE, R_OK | W_OK), 0);
	assert_int_equal(access(NODE, X_OK), -1);
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(231, 192));
	close(fd);
	fd = openat(AT_FDCWD, NODE, O_RDWR);
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	close(fd);
	wait_objects("ufiles", 0);
}

/* The stand-in leaves other files, sockets and calls alone. */
static void test_others(void **state)
{
	int pair[2], fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_rdev, makedev(1, 3));
	close(fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(fstat(pair[0], &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	assert_true(fd >= 0);
	close(fd);
}

static void test_attributes(void **state)
{
	struct ibv_context *context = open_device();
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct mlx5dv_context dv = {.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION};

	(void)state;
	assert_int_equal(ibv_query_device(context, &attr), 0);
	assert_int_equal(attr.vendor_id, 0x15b3);
	assert_int_equal(attr.phys_port_cnt, 1);
	assert_int_equal(ibv_query_device_ex(context, NULL, &ex), 0);
	assert_int_equal(ex.orig_attr.max_qp, attr.max_qp);
	assert_int_equal(context->num_comp_vectors, 4);
	assert_int_equal(mlx5dv_query_device(context, &dv), 0);
	/* Completions are never compressed: the data path does not do that. */
	assert_int_equal(dv.cqe_comp_caps.max_num, 0);
	ibv_close_device(context);
}

static void test_port(void **state)
{
	struct ibv_context *context = open_device();
	struct ibv_gid_entry entries[16], entry;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct in6_addr mapped;

	(void)state;
	assert_int_equal(ibv_query_port(context, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(ibv_query_port(context, 2, &port), EINVAL);
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &mapped);
	assert_int_equal(ibv_query_gid(context, 1, 3, &gid), 0);
	assert_memory_equal(&gid, &mapped, sizeof(gid));
	assert_int_equal(ibv_query_gid_table(context, entries, 16, 0), 4);
	assert_int_equal(entries[1].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(ibv_query_gid_ex(context, 1, 2, &entry, 0), 0);
	assert_int_equal(entry.gid_type, IBV_GID_TYPE_ROCE_V1);
	assert_int_equal(ibv_query_gid_ex(context, 1, 5, &entry, 0), ENODATA);
	ibv_close_device(context);
}

/* The pages that a program may map, and how. */
static void test_mappings(void **state)
{
	static const struct {
		uint64_t cmd;
		size_t length;
		int prot, flags, error;
	} rows[] = {
	    {5, 4096, PROT_READ, MAP_SHARED, 0},
	    {7, 4096, PROT_READ, MAP_SHARED, 0},
	    {5, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM},
	    {7, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM},
	    {5, 8192, PROT_READ, MAP_SHARED, EINVAL},
	    {1, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ENOSYS},
	    {0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, EINVAL},
	    {9, 4096, PROT_WRITE, MAP_SHARED, 0}, /* the region made at open */
	    {10, 4096, PROT_WRITE, MAP_SHARED, EINVAL},
	};
	struct ibv_context *context = open_device();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *page = mmap(NULL, rows[i].length, rows[i].prot, rows[i].flags,
				  context->cmd_fd, (off_t)(rows[i].cmd << 8) * 4096);

		if (rows[i].error) {
			assert_ptr_equal(page, MAP_FAILED);
			assert_int_equal(errno, rows[i].error);
		} else {
			assert_ptr_not_equal(page, MAP_FAILED);
			munmap(page, rows[i].length);
		}
	}
	ibv_close_device(context);
}

/* Read-only stays so. */
static void test_clock_cannot_be_made_writable(void **state)
{
	struct ibv_context *context = open_device();
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, context->cmd_fd, 0x500000);

	(void)state;
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(errno, EACCES);
	munmap(page, 4096);
	ibv_close_device(context);
}

/* Two mappings of one region are one page, in two processes as well. */
static void test_region_is_one_page(void **state)
{
	struct ibv_context *context = open_device();
	volatile uint32_t *a, *b;

	(void)state;
	a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, context->cmd_fd, 0x900000);
	b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, context->cmd_fd, 0x900000);
	assert_ptr_not_equal(a, b);
	a[10] = 0x5a5a;
	assert_int_equal(b[10], 0x5a5a);
	munmap((void *)a, 4096);
	munmap((void *)b, 4096);
	ibv_close_device(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_list),
	    cmocka_unit_test(test_node),
	    cmocka_unit_test(test_others),
	    cmocka_unit_test(test_attributes),
	    cmocka_unit_test(test_port),
	    cmocka_unit_test(test_mappings),
	    cmocka_unit_test(test_clock_cannot_be_made_writable),
	    cmocka_unit_test(test_region_is_one_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
