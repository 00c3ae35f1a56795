/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that warmverbs itself gives to the kernel, answers that it gives in the kernel's stead,
 * and what it hides of a queue pair that it put back.
 */
#include "abi/compose.h"
#include "abi/data_path.h"
#include "abi/qp.h"
#include "fixture.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

static const struct wv_command_row *creator(uint32_t driver_id, uint16_t object, uint16_t method)
{
	const struct wv_command_row *row = wv_abi_find(driver_id, object, method, WV_NO_WRITE_CMD);

	assert_non_null(row);
	return row;
}

/* By the kernel's own attribute ids, which the table repeats. */
static void test_destroying_a_cq(void **state)
{
	const struct wv_command_row *create =
	    creator(RDMA_DRIVER_MLX5, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	struct wv_small_command cmd;

	(void)state;
	memset(&cmd, 0xee, sizeof(cmd));
	assert_int_equal(wv_compose_destroy(&cmd, RDMA_DRIVER_MLX5, create, 7), 0);
	assert_int_equal(cmd.hdr.object_id, UVERBS_OBJECT_CQ);
	assert_int_equal(cmd.hdr.method_id, UVERBS_METHOD_CQ_DESTROY);
	assert_int_equal(cmd.hdr.driver_id, RDMA_DRIVER_MLX5);
	assert_int_equal(cmd.hdr.num_attrs, 2);
	assert_int_equal(cmd.hdr.length, sizeof(cmd.hdr) + 2 * sizeof(cmd.attrs[0]));
	assert_int_equal(cmd.hdr.reserved1, 0);
	assert_int_equal(cmd.hdr.reserved2, 0);
	assert_int_equal(cmd.attrs[0].attr_id, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	assert_int_equal(cmd.attrs[0].len, 0);
	assert_int_equal(cmd.attrs[0].data, 7);
	assert_int_equal(cmd.attrs[1].attr_id, UVERBS_ATTR_DESTROY_CQ_RESP);
	assert_int_equal(cmd.attrs[1].len, sizeof(struct ib_uverbs_destroy_cq_resp));
	assert_ptr_equal((void *)(uintptr_t)cmd.attrs[1].data, cmd.answer);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(cmd.attrs[i].flags, UVERBS_ATTR_F_MANDATORY);
}

static void test_destroying_a_pd_that_write_made(void **state)
{
	const struct wv_command_row *create =
	    wv_abi_find(RDMA_DRIVER_RXE, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
			IB_USER_VERBS_CMD_ALLOC_PD);
	struct wv_small_command cmd;

	(void)state;
	assert_int_equal(wv_compose_destroy(&cmd, RDMA_DRIVER_RXE, create, 3), 0);
	assert_int_equal(cmd.hdr.object_id, UVERBS_OBJECT_PD);
	assert_int_equal(cmd.hdr.method_id, UVERBS_METHOD_PD_DESTROY);
	assert_int_equal(cmd.hdr.num_attrs, 1);
	assert_int_equal(cmd.attrs[0].data, 3);
}

/* The method of a driver's own object is that driver's. */
static void test_destroying_a_driver_s_object(void **state)
{
	const struct wv_command_row *create =
	    creator(RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	struct wv_small_command cmd;

	(void)state;
	assert_int_equal(wv_compose_destroy(&cmd, RDMA_DRIVER_MLX5, create, 5), 0);
	assert_int_equal(cmd.hdr.method_id, MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	assert_int_equal(wv_compose_destroy(&cmd, RDMA_DRIVER_RXE, create, 5), -EOPNOTSUPP);
}

static void test_what_no_ioctl_destroys(void **state)
{
	struct wv_small_command cmd;

	(void)state;
	assert_int_equal(wv_compose_destroy(&cmd, RDMA_DRIVER_RXE,
					    creator(RDMA_DRIVER_RXE, UVERBS_OBJECT_ASYNC_EVENT,
						    UVERBS_METHOD_ASYNC_EVENT_ALLOC),
					    1),
			 -EOPNOTSUPP);
}

static void test_reset(void **state)
{
	struct wv_small_command cmd;

	(void)state;
	wv_compose_reset(&cmd, RDMA_DRIVER_RXE, 9);
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), IB_USER_VERBS_CMD_MODIFY_QP);
	assert_string_equal(wv_abi_find(RDMA_DRIVER_RXE, cmd.hdr.object_id, cmd.hdr.method_id,
					wv_abi_write_cmd(&cmd.hdr))
				->name,
			    "modify_qp");
	assert_int_equal(cmd.attrs[1].len, sizeof(cmd.modify));
	assert_int_equal(wv_command_qp_state(&cmd.hdr), IBV_QPS_RESET);
	assert_int_equal(cmd.modify.qp_handle, 9);
	assert_int_equal(cmd.modify.attr_mask, IBV_QP_STATE);
}

struct post {
	struct ib_uverbs_cmd_hdr hdr;
	uint64_t words[2];
};

static void test_a_post_with_an_answer(void **state)
{
	struct post post = {
	    .hdr = {.command = IB_USER_VERBS_CMD_POST_SEND, .out_words = 1},
	    .words = {0x1234, 5},
	};
	struct wv_posted cmd;

	(void)state;
	wv_posted_fill(&cmd, RDMA_DRIVER_RXE, &post.hdr, sizeof(post));
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), IB_USER_VERBS_CMD_POST_SEND);
	assert_int_equal(cmd.hdr.driver_id, RDMA_DRIVER_RXE);
	assert_int_equal(cmd.hdr.num_attrs, 3);
	assert_int_equal(cmd.hdr.length, sizeof(cmd));
	assert_int_equal(cmd.attrs[1].attr_id, UVERBS_ATTR_CORE_IN);
	assert_int_equal(cmd.attrs[1].len, sizeof(post.words));
	assert_ptr_equal((void *)(uintptr_t)cmd.attrs[1].data, post.words);
	assert_int_equal(cmd.attrs[2].attr_id, UVERBS_ATTR_CORE_OUT);
	assert_int_equal(cmd.attrs[2].len, 4);
	assert_int_equal(cmd.attrs[2].data, 0x1234);
}

/* Eight bytes are in the attribute itself. */
static void test_a_short_post_without_an_answer(void **state)
{
	struct post post = {.hdr = {.command = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ}, .words = {77}};
	struct wv_posted cmd;

	(void)state;
	wv_posted_fill(&cmd, RDMA_DRIVER_RXE, &post.hdr, sizeof(post.hdr) + 8);
	assert_int_equal(cmd.hdr.num_attrs, 2);
	assert_int_equal(cmd.hdr.length, sizeof(cmd.hdr) + 2 * sizeof(cmd.attrs[0]));
	assert_int_equal(cmd.attrs[1].len, 8);
	assert_int_equal(cmd.attrs[1].data, 77);
}

static void test_an_empty_answer_to_a_creation(void **state)
{
	uint32_t cqe = 5, user_handle[2] = {3, 4};
	uint8_t private[16];
	struct command cmd;

	(void)state;
	memset(private, 0xee, sizeof(private));
	command_init(&cmd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	command_object(&cmd, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	command_in(&cmd, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, user_handle, 8);
	command_out(&cmd, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, 4);
	command_out(&cmd, UVERBS_ATTR_UHW_OUT, private, 12);
	wv_answer_empty(&cmd.hdr, command_row(&cmd));
	assert_int_equal((uint32_t)cmd.attrs[0].data, WV_NONE);
	assert_int_equal(cqe, 0);
	for (unsigned int i = 0; i < sizeof(private); i++)
		assert_int_equal(private[i], i < 12 ? 0 : 0xee);
	assert_memory_equal(wv_attr_input(&cmd.attrs[1]), user_handle, 8);
	for (unsigned int i = 0; i < cmd.hdr.num_attrs; i++)
		assert_int_equal(!!(cmd.attrs[i].flags & UVERBS_ATTR_F_VALID_OUTPUT), i != 1);
}

static void test_what_a_reset_queue_pair_hides(void **state)
{
	struct ib_uverbs_query_qp query = {0};
	struct ib_uverbs_query_qp_resp all, answer;
	struct command cmd;

	(void)state;
	memset(&all, 0xee, sizeof(all));
	answer = all;
	command_legacy(&cmd, IB_USER_VERBS_CMD_QUERY_QP, &query, sizeof(query), &answer,
		       sizeof(answer));
	wv_qp_hide_ioctl(&cmd.hdr);
	assert_int_equal(answer.qkey | answer.qp_access_flags | answer.pkey_index | answer.port_num,
			 0);
	answer.qkey = all.qkey;
	answer.qp_access_flags = all.qp_access_flags;
	answer.pkey_index = all.pkey_index;
	answer.port_num = all.port_num;
	assert_memory_equal(&answer, &all, sizeof(all));
}

static void test_an_answer_too_short_hides_nothing(void **state)
{
	struct ib_uverbs_query_qp query = {0};
	uint8_t answer[sizeof(struct ib_uverbs_query_qp_resp)];
	struct command cmd;

	(void)state;
	memset(answer, 0xee, sizeof(answer));
	command_legacy(&cmd, IB_USER_VERBS_CMD_QUERY_QP, &query, sizeof(query), answer,
		       sizeof(answer) - 1);
	wv_qp_hide_ioctl(&cmd.hdr);
	for (unsigned int i = 0; i < sizeof(answer); i++)
		assert_int_equal(answer[i], 0xee);
}

static void test_what_a_verb_hides(void **state)
{
	struct ibv_qp_attr all, attr;

	(void)state;
	memset(&all, 0xee, sizeof(all));
	attr = all;
	wv_qp_hide(&attr);
	assert_int_equal(attr.qkey | attr.qp_access_flags | attr.pkey_index | attr.port_num, 0);
	attr.qkey = all.qkey;
	attr.qp_access_flags = all.qp_access_flags;
	attr.pkey_index = all.pkey_index;
	attr.port_num = all.port_num;
	assert_memory_equal(&attr, &all, sizeof(all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_destroying_a_cq),
	    cmocka_unit_test(test_destroying_a_pd_that_write_made),
	    cmocka_unit_test(test_destroying_a_driver_s_object),
	    cmocka_unit_test(test_what_no_ioctl_destroys),
	    cmocka_unit_test(test_reset),
	    cmocka_unit_test(test_a_post_with_an_answer),
	    cmocka_unit_test(test_a_short_post_without_an_answer),
	    cmocka_unit_test(test_an_empty_answer_to_a_creation),
	    cmocka_unit_test(test_what_a_reset_queue_pair_hides),
	    cmocka_unit_test(test_an_answer_too_short_hides_nothing),
	    cmocka_unit_test(test_what_a_verb_hides),
	};

	return cmocka_run_group_tests_name("compose", tests, NULL, NULL);
}
