/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port's GID table, when its IPv4 address goes and comes back; its link; and numbers of queue
 * pairs that are used again at once.
 */
#include "shared_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROCE_V1 2 /* the indexes of the IPv4 address */
#define ROCE_V2 3

static bool has_gid(uint32_t index)
{
	struct ibv_gid_entry entry;
	struct in6_addr address;

	inet_pton(AF_INET6, "::ffff:192.0.2.1", &address);
	if (ibv_query_gid_ex(kit.context, 1, index, &entry, 0)) {
		assert_int_equal(errno, ENODATA);
		return false;
	}
	return !memcmp(&entry.gid, &address, sizeof(address));
}

static void expect_event(enum ibv_event_type type)
{
	struct ibv_async_event event;

	assert_int_equal(ibv_get_async_event(kit.context, &event), 0);
	assert_int_equal(event.event_type, type);
	assert_int_equal(event.element.port_num, 1);
	ibv_ack_async_event(&event);
}

/* One for each entry of the table. */
static void expect_change(void)
{
	expect_event(IBV_EVENT_GID_CHANGE);
	expect_event(IBV_EVENT_GID_CHANGE);
}

static void lose_address(void)
{
	tell("address remove");
	expect_change();
}

static void get_address(void)
{
	tell("address add");
	expect_change();
}

static void expect_indexes(bool v1, bool v2, bool next, bool after)
{
	assert_int_equal(has_gid(ROCE_V1), v1);
	assert_int_equal(has_gid(ROCE_V2), v2);
	assert_int_equal(has_gid(ROCE_V2 + 1), next);
	assert_int_equal(has_gid(ROCE_V2 + 2), after);
}

static struct ibv_ah_attr address_at(uint8_t index)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = index}};

	attr.grh.dgid.raw[15] = 1;
	return attr;
}

static int to_rtr(struct ibv_qp *qp, uint8_t gid_index)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .ah_attr = address_at(gid_index)};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask_of(RC, IBV_QPS_RTR));
}

static void test_goes_and_comes(void **state)
{
	struct ibv_gid_entry entries[8];

	(void)state;
	lose_address();
	expect_indexes(false, false, false, false);
	assert_int_equal(ibv_query_gid_table(kit.context, entries, 8, 0), 2);
	get_address();
	expect_indexes(true, true, false, false);
	assert_int_equal(ibv_query_gid_table(kit.context, entries, 8, 0), 4);
}

/* A queue pair in INIT does not name an address. */
static void test_index_is_free_again(void **state)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);

	(void)state;
	assert_int_equal(move_qp(qp, RC, IBV_QPS_INIT), 0);
	lose_address();
	assert_int_equal(to_rtr(qp, ROCE_V2), EINVAL);
	get_address();
	expect_indexes(true, true, false, false);
	assert_int_equal(to_rtr(qp, ROCE_V2), 0);
	ibv_destroy_qp(qp);
}

static void test_queue_pair_holds_index(void **state)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);

	(void)state;
	assert_int_equal(move_qp(qp, RC, IBV_QPS_INIT), 0);
	assert_int_equal(to_rtr(qp, ROCE_V2), 0);
	lose_address();
	get_address();
	expect_indexes(true, false, true, false);
	ibv_destroy_qp(qp);
	/* The address stays where it is now, until it goes the next time. */
	expect_indexes(true, false, true, false);
	lose_address();
	get_address();
	expect_indexes(true, true, false, false);
}

static void test_address_handle_holds_index(void **state)
{
	struct ibv_ah_attr attr = address_at(ROCE_V1);
	struct ibv_ah *ah = ibv_create_ah(kit.pd, &attr);

	(void)state;
	assert_non_null(ah);
	lose_address();
	get_address();
	expect_indexes(false, true, true, false);
	ibv_destroy_ah(ah);
	lose_address();
	get_address();
	expect_indexes(true, true, false, false);
}

/* What libraries without the command read. */
static void test_sysfs(void **state)
{
	char path[256], line[64] = "";
	FILE *file;

	(void)state;
	lose_address();
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/ports/1/gids/3",
		 getenv("SYSFS_PATH"));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_string_equal(line, "0000:0000:0000:0000:0000:0000:0000:0000\n");
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3",
		 getenv("SYSFS_PATH"));
	assert_int_equal(access(path, F_OK), -1);
	get_address();
	assert_int_equal(access(path, F_OK), 0);
}

static void expect_state(enum ibv_port_state state, const char *text)
{
	char path[256], line[64] = "";
	struct ibv_port_attr port;
	FILE *file;

	assert_int_equal(ibv_query_port(kit.context, 1, &port), 0);
	assert_int_equal(port.state, state);
	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/ports/1/state",
		 getenv("SYSFS_PATH"));
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_string_equal(line, text);
}

static void test_link(void **state)
{
	(void)state;
	tell("link up");
	tell("link down");
	expect_event(IBV_EVENT_PORT_ERR);
	expect_state(IBV_PORT_DOWN, "1: DOWN\n");
	tell("link up");
	expect_event(IBV_EVENT_PORT_ACTIVE);
	expect_state(IBV_PORT_ACTIVE, "4: ACTIVE\n");
}

static uint32_t made_number(void)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);
	uint32_t number = qp->qp_num;

	ibv_destroy_qp(qp);
	return number;
}

static void test_numbers_are_used_again(void **state)
{
	uint32_t first = made_number(), next = made_number();

	(void)state;
	assert_int_not_equal(first, next);
	tell("reuse on");
	first = made_number();
	assert_int_equal(made_number(), first);
	tell("reuse off");
	next = made_number();
	assert_int_not_equal(made_number(), next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    KIT_TEST(test_goes_and_comes),
	    KIT_TEST(test_index_is_free_again),
	    KIT_TEST(test_queue_pair_holds_index),
	    KIT_TEST(test_address_handle_holds_index),
	    KIT_TEST(test_sysfs),
	    KIT_TEST(test_link),
	    KIT_TEST(test_numbers_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
