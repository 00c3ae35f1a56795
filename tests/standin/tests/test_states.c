/* SPDX-License-Identifier: BSD-2-Clause */
/* The state machine: each step without each attribute that it needs, and with one too many. */
#include "shared_kit.h"

#include <errno.h>

static const char *const names[] = {"RC", "UC", "UD", "DCI", "DCT"};

/* An attribute that no step before RTS takes, for any type. */
#define STRANGER IBV_QP_EN_SQD_ASYNC_NOTIFY

static void check_step(struct ibv_qp *qp, enum qp_kind kind, enum ibv_qp_state to)
{
	int mask = mask_of(kind, to);

	for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
		if (!(mask & bit) || bit == IBV_QP_STATE)
			continue;
		if (step_qp_masked(qp, to, mask & ~bit) != EINVAL)
			fail_msg("%s goes to %d without attribute %x", names[kind], to, bit);
	}
	assert_int_equal(step_qp_masked(qp, to, mask | STRANGER), EINVAL);
	assert_int_equal(step_qp_masked(qp, to, mask), 0);
}

static void test_masks(void **state)
{
	(void)state;
	for (enum qp_kind kind = RC; kind < QP_KINDS; kind++) {
		struct ibv_qp *qp = must_make_qp(&kit, kind);

		for (enum ibv_qp_state to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
			if (mask_of(kind, to))
				check_step(qp, kind, to);
			else
				assert_int_equal(step_qp_masked(qp, to, 0), EINVAL);
		}
		assert_int_equal(ibv_destroy_qp(qp), 0);
	}
}

static void test_no_short_cuts(void **state)
{
	(void)state;
	for (enum qp_kind kind = RC; kind < QP_KINDS; kind++) {
		struct ibv_qp *qp = must_make_qp(&kit, kind);

		assert_int_equal(step_qp(qp, kind, IBV_QPS_RTR), EINVAL);
		assert_int_equal(step_qp_masked(qp, IBV_QPS_SQD, 0), EINVAL);
		assert_int_equal(step_qp(qp, kind, IBV_QPS_INIT), 0);
		assert_int_equal(step_qp_masked(qp, IBV_QPS_RTS, mask_of(kind, IBV_QPS_RTS)),
				 EINVAL);
		assert_int_equal(ibv_destroy_qp(qp), 0);
	}
}

/* To ERR and RESET from every state; a DCT, which the driver can't move back, is refused. */
static void test_error_and_reset(void **state)
{
	(void)state;
	for (enum qp_kind kind = RC; kind < QP_KINDS; kind++) {
		struct ibv_qp *qp = must_make_qp(&kit, kind);
		int want = kind == DCT ? EINVAL : 0;

		assert_int_equal(step_qp(qp, kind, IBV_QPS_INIT), 0);
		assert_int_equal(step_qp_masked(qp, IBV_QPS_ERR, 0), want);
		assert_int_equal(step_qp_masked(qp, IBV_QPS_RESET, 0), want);
		if (kind != DCT)
			assert_int_equal(move_qp(qp, kind, IBV_QPS_RTS), 0);
		assert_int_equal(ibv_destroy_qp(qp), 0);
	}
}

static enum ibv_qp_state state_of(struct ibv_qp *qp, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;

	assert_int_equal(ibv_query_qp(qp, attr, IBV_QP_STATE, &init), 0);
	return attr->qp_state;
}

static void test_query(void **state)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);
	struct ibv_qp_attr attr;

	(void)state;
	assert_int_equal(state_of(qp, &attr), IBV_QPS_RESET);
	assert_int_equal(move_qp(qp, RC, IBV_QPS_RTS), 0);
	assert_int_equal(state_of(qp, &attr), IBV_QPS_RTS);
	assert_int_equal(attr.dest_qp_num, qp->qp_num);
	assert_int_equal(attr.timeout, 14);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	assert_int_equal(attr.ah_attr.grh.sgid_index, 1);
	assert_int_equal(step_qp_masked(qp, IBV_QPS_RESET, 0), 0);
	assert_int_equal(state_of(qp, &attr), IBV_QPS_RESET);
	assert_int_equal(attr.timeout, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A DCT gets the number that its peers use at RTR. */
static void test_dct_number(void **state)
{
	struct ibv_qp *dct = must_make_qp(&kit, DCT), *rc = must_make_qp(&kit, RC);

	(void)state;
	assert_int_equal(dct->qp_num, 0);
	assert_int_equal(step_qp(dct, DCT, IBV_QPS_INIT), 0);
	assert_int_equal(dct->qp_num, 0);
	assert_int_equal(step_qp(dct, DCT, IBV_QPS_RTR), 0);
	assert_int_not_equal(dct->qp_num, 0);
	assert_int_not_equal(dct->qp_num, rc->qp_num);
	assert_int_equal(ibv_destroy_qp(rc), 0);
	assert_int_equal(ibv_destroy_qp(dct), 0);
}

/* Values that every adapter refuses. */
static void test_values(void **state)
{
	static const struct {
		int mask;
		struct ibv_qp_attr attr;
		int error;
	} rows[] = {
	    {IBV_QP_PORT, {.port_num = 2}, EINVAL},
	    {IBV_QP_PORT, {.port_num = 0}, EINVAL},
	    {IBV_QP_PKEY_INDEX, {.port_num = 1, .pkey_index = 1}, EINVAL},
	    {IBV_QP_PORT, {.port_num = 1}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp *qp = must_make_qp(&kit, RC);
		struct ibv_qp_attr attr = rows[i].attr;

		attr.qp_state = IBV_QPS_INIT;
		assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask_of(RC, IBV_QPS_INIT)),
				 rows[i].error);
		assert_int_equal(ibv_destroy_qp(qp), 0);
	}
}

/* On Ethernet, a queue pair needs the GID of its peer. */
static void test_address(void **state)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qp->qp_num,
				   .ah_attr = {.port_num = 1, .dlid = 7}};
	int mask = IBV_QP_STATE | mask_of(RC, IBV_QPS_RTR);

	(void)state;
	assert_int_equal(step_qp(qp, RC, IBV_QPS_INIT), 0);
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), EINVAL);
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 7; /* unused */
	attr.ah_attr.grh.dgid.raw[0] = 0xfe;
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), EINVAL);
	attr.ah_attr.grh.sgid_index = 1;
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_masks),	    cmocka_unit_test(test_no_short_cuts),
	    cmocka_unit_test(test_error_and_reset), cmocka_unit_test(test_query),
	    cmocka_unit_test(test_dct_number),	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_address),
	};

	return cmocka_run_group_tests(tests, set_up_kit, tear_down_kit);
}
