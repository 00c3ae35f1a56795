/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firmware gives a context the capabilities of the process that made it. Who gets a descriptor of a
 * context that root made, gets these too.
 */
#include "kit.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_TIS = 0x912, CREATE_EQ = 0x301, ALLOC_XRCD = 0x802 };

static void drop(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	data[CAP_TO_INDEX(capability)].effective &= ~CAP_TO_MASK(capability);
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

static void raise_again(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	data[0].effective = data[0].permitted;
	data[1].effective = data[1].permitted;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

/* An object by a raw firmware command: 0 or an errno. */
static int raw_create(struct ibv_context *context, unsigned int opcode)
{
	uint8_t in[16] = {(uint8_t)(opcode >> 8), (uint8_t)opcode}, out[16];
	struct mlx5dv_devx_obj *object;

	errno = 0;
	object = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
	if (!object)
		return errno;
	assert_int_equal(mlx5dv_devx_obj_destroy(object), 0);
	return 0;
}

static int make_raw_packet_qp(const struct kit *kit)
{
	struct ibv_qp_init_attr init = {.send_cq = kit->cq,
					.recv_cq = kit->cq,
					.cap = {.max_send_wr = 1, .max_send_sge = 1},
					.qp_type = IBV_QPT_RAW_PACKET};
	struct ibv_qp *qp = ibv_create_qp(kit->pd, &init);

	if (!qp)
		return errno;
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return 0;
}

static void test_all(void **state)
{
	struct ibv_context *context;

	(void)state;
	context = open_device();
	assert_int_equal(raw_create(context, CREATE_TIS), 0);
	assert_int_equal(raw_create(context, CREATE_EQ), 0);
	assert_int_equal(raw_create(context, ALLOC_XRCD), 0);
	assert_int_equal(raw_create(context, 0x1234), EINVAL);
	ibv_close_device(context);
}

/* For these the kernel checks the process that asks, not the one that made the context. */
static void test_raw_packets(void **state)
{
	struct kit kit;

	(void)state;
	open_kit(&kit);
	assert_int_equal(make_raw_packet_qp(&kit), 0);
	drop(CAP_NET_RAW);
	assert_int_equal(make_raw_packet_qp(&kit), EPERM);
	raise_again();
	assert_int_equal(make_raw_packet_qp(&kit), 0);
	close_kit(&kit);
}

/* Later changes of the capabilities, up or down, do not change a context. */
static void test_rights_stay(void **state)
{
	struct ibv_context *with, *without;

	(void)state;
	with = open_device();
	drop(CAP_NET_RAW);
	drop(CAP_SYS_RAWIO);
	without = open_device();
	assert_int_equal(raw_create(with, CREATE_TIS), 0);
	assert_int_equal(raw_create(with, CREATE_EQ), 0);
	assert_int_equal(raw_create(without, CREATE_TIS), EPERM);
	assert_int_equal(raw_create(without, CREATE_EQ), EPERM);
	assert_int_equal(raw_create(without, ALLOC_XRCD), 0);
	raise_again();
	assert_int_equal(raw_create(without, CREATE_TIS), EPERM);
	assert_int_equal(raw_create(without, CREATE_EQ), EPERM);
	ibv_close_device(with);
	ibv_close_device(without);
}

static void test_each_right(void **state)
{
	struct ibv_context *context;

	(void)state;
	drop(CAP_SYS_RAWIO);
	context = open_device();
	assert_int_equal(raw_create(context, CREATE_TIS), 0);
	assert_int_equal(raw_create(context, CREATE_EQ), EPERM);
	ibv_close_device(context);
	raise_again();
}

/* Queue keys that only privileged users may send with. */
static void test_privileged_key(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x80000001};
	struct ibv_qp *qp;
	struct kit kit;

	(void)state;
	drop(CAP_NET_RAW);
	open_kit(&kit);
	qp = must_make_qp(&kit, UD);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask_of(UD, IBV_QPS_INIT)), EPERM);
	attr.qkey = 1;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask_of(UD, IBV_QPS_INIT)), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	close_kit(&kit);
	raise_again();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all),
	    cmocka_unit_test(test_raw_packets),
	    cmocka_unit_test(test_rights_stay),
	    cmocka_unit_test(test_each_right),
	    cmocka_unit_test(test_privileged_key),
	};

	if (geteuid()) {
		puts("needs root, to have capabilities to drop");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
