/* SPDX-License-Identifier: BSD-2-Clause */
/* From a command, built as libibverbs builds it, to a step. */
#include "fixture.h"

struct recorder {
	_Alignas(8) uint8_t memory[4096];
	struct wv_cmdlog_writer w;
};

static void begin(struct recorder *r)
{
	wv_cmdlog_begin(&r->w, r->memory, sizeof(r->memory), WV_RECORD, RDMA_DRIVER_RXE);
}

/* Records @cmd, to which the kernel answers @error; the step, or NULL if it made none. */
static struct wv_step *record(struct recorder *r, struct command *cmd, int error)
{
	unsigned int before = r->w.cmdlog->n_steps;

	assert_int_equal(wv_record_command(&r->w, &cmd->hdr, command_row(cmd), NULL), 0);
	wv_record_answer(&r->w, &cmd->hdr, command_row(cmd), error);
	assert_int_equal(wv_cmdlog_check(r->w.cmdlog, r->w.cmdlog->bytes, WV_RECORD), 0);
	return r->w.cmdlog->n_steps > before ? tape_step(r->w.cmdlog, before) : NULL;
}

static void assert_unknown(struct recorder *r, struct command *cmd)
{
	unsigned int before = r->w.cmdlog->n_steps;

	assert_int_equal(wv_record_command(&r->w, &cmd->hdr, command_row(cmd), NULL), WV_UNKNOWN);
	wv_record_answer(&r->w, &cmd->hdr, command_row(cmd), 0);
	assert_int_equal(r->w.cmdlog->n_steps, before);
}

/* Eight bytes are inline: the address of the response is the attribute itself. */
static void test_an_inline_address_is_left_out(void **state)
{
	static const uint8_t zeroes[8];
	struct ib_uverbs_alloc_pd_resp out = {.pd_handle = 17};
	struct ib_uverbs_alloc_pd in = {.response = (uintptr_t)&out};
	struct recorder r;
	struct wv_step *step;
	struct command cmd;

	(void)state;
	begin(&r);
	command_legacy(&cmd, IB_USER_VERBS_CMD_ALLOC_PD, &in, sizeof(in), &out, sizeof(out));
	assert_int_equal(command_attr(&cmd, UVERBS_ATTR_CORE_IN)->data, (uintptr_t)&out);
	step = record(&r, &cmd, 0);
	assert_string_equal(step_name(step), "alloc_pd");
	assert_int_equal(step->write_cmd, IB_USER_VERBS_CMD_ALLOC_PD);
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CORE_IN)->len, 8);
	assert_memory_equal(step_input(step, UVERBS_ATTR_CORE_IN), zeroes, 8);
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CORE_OUT)->data, 0);
	assert_int_equal(step->new_handle, 17);
	assert_int_equal(step->new_fd, WV_NONE);
	assert_int_equal(step->target, WV_NONE);
}

static void test_a_descriptor_in_the_answer(void **state)
{
	struct ib_uverbs_create_comp_channel_resp out = {.fd = 23};
	struct ib_uverbs_create_comp_channel in = {.response = (uintptr_t)&out};
	struct recorder r;
	struct wv_step *step;
	struct command cmd;

	(void)state;
	begin(&r);
	command_legacy(&cmd, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &in, sizeof(in), &out,
		       sizeof(out));
	step = record(&r, &cmd, 0);
	assert_int_equal(step->new_fd, 23);
	assert_int_equal(step->new_handle, WV_NONE);
}

/* A create_qp in which the capacities asked for and those received are one memory. */
static void build_create_qp(struct command *cmd, struct ib_uverbs_qp_cap *cap, uint32_t *qp_num)
{
	uint64_t type = IB_UVERBS_QPT_RC, token = 0x5555aaaa1000;

	command_init(cmd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	command_object(cmd, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 4);
	command_object(cmd, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 6);
	command_object(cmd, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 7);
	command_object(cmd, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	command_in(cmd, UVERBS_ATTR_CREATE_QP_TYPE, &type, sizeof(type));
	command_in(cmd, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &token, sizeof(token));
	command_in(cmd, UVERBS_ATTR_CREATE_QP_CAP, cap, sizeof(*cap));
	command_object(cmd, UVERBS_ATTR_CREATE_QP_EVENT_FD, 5)->flags = 0;
	command_out(cmd, UVERBS_ATTR_CREATE_QP_RESP_CAP, cap, sizeof(*cap));
	command_out(cmd, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp_num, sizeof(*qp_num));
}

static void test_inputs_are_copied_before_the_kernel_answers(void **state)
{
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 1, .max_recv_wr = 500}, asked = cap;
	uint32_t qp_num = 0;
	struct recorder r;
	struct wv_step *step;
	struct command cmd;

	(void)state;
	begin(&r);
	build_create_qp(&cmd, &cap, &qp_num);
	assert_int_equal(wv_record_command(&r.w, &cmd.hdr, command_row(&cmd), NULL), 0);
	cap = (struct ib_uverbs_qp_cap){.max_send_wr = 64, .max_recv_wr = 512};
	command_attr(&cmd, UVERBS_ATTR_CREATE_QP_HANDLE)->data = 9;
	wv_record_answer(&r.w, &cmd.hdr, command_row(&cmd), 0);
	step = tape_step(r.w.cmdlog, 0);
	assert_memory_equal(step_input(step, UVERBS_ATTR_CREATE_QP_CAP), &asked, sizeof(asked));
	assert_int_equal(step->new_handle, 9);
}

static void test_what_each_attribute_becomes(void **state)
{
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 1};
	uint32_t qp_num = 0;
	struct recorder r;
	struct wv_step *step;
	struct command cmd;

	(void)state;
	begin(&r);
	build_create_qp(&cmd, &cap, &qp_num);
	step = record(&r, &cmd, 0);
	assert_int_equal(step->n_attrs, cmd.hdr.num_attrs);
	for (unsigned int i = 0; i < step->n_attrs; i++) {
		const struct wv_attr *attr = &wv_step_attrs(step)[i];

		assert_int_equal(attr->id, cmd.attrs[i].attr_id);
		assert_int_equal(attr->len, cmd.attrs[i].len);
		assert_int_equal(attr->flags, cmd.attrs[i].flags);
		assert_int_equal(attr->kind, wv_abi_attr(command_row(&cmd), attr->id)->kind);
		assert_int_equal(attr->payload != 0, attr->kind == WV_EQUAL);
	}
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data, 4);
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)->data, 7);
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CREATE_QP_EVENT_FD)->data, 5);
	/* Addresses of this process are nobody's business. */
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CREATE_QP_USER_HANDLE)->data, 0);
	assert_int_equal(wv_step_attr(step, UVERBS_ATTR_CREATE_QP_RESP_CAP)->data, 0);
	/* It names objects, but is about none of them: see what target is for. */
	assert_int_equal(step->target, WV_NONE);
}

static void test_the_target_is_inside_the_struct(void **state)
{
	struct ib_uverbs_modify_qp modify = {
	    .qp_handle = 12, .attr_mask = IBV_QP_STATE, .qp_state = IBV_QPS_INIT};
	struct ib_uverbs_query_qp query = {.response = 1, .qp_handle = 13};
	uint8_t answer[128];
	struct recorder r;
	struct wv_step *step;
	struct command cmd;

	(void)state;
	begin(&r);
	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), NULL, 0);
	step = record(&r, &cmd, 0);
	assert_int_equal(step->target, 12);
	assert_int_equal(wv_step_qp_state(step), IBV_QPS_INIT);
	assert_int_equal(wv_command_qp_state(&cmd.hdr), IBV_QPS_INIT);
	command_legacy(&cmd, IB_USER_VERBS_CMD_QUERY_QP, &query, sizeof(query), answer,
		       sizeof(answer));
	step = record(&r, &cmd, 0);
	assert_int_equal(step->target, 13);
	assert_int_equal(
	    ((struct ib_uverbs_query_qp *)step_input(step, UVERBS_ATTR_CORE_IN))->response, 0);
}

static void test_a_modify_that_asks_for_no_state(void **state)
{
	struct ib_uverbs_modify_qp modify = {
	    .qp_handle = 12, .attr_mask = IBV_QP_ACCESS_FLAGS, .qp_state = IBV_QPS_INIT};
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), NULL, 0);
	assert_int_equal(wv_command_qp_state(&cmd.hdr), -1);
	assert_int_equal(wv_step_qp_state(record(&r, &cmd, 0)), -1);
	modify.attr_mask = IBV_QP_STATE; /* shorter than the struct: nothing can be said */
	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify) - 4, NULL, 0);
	assert_int_equal(wv_command_qp_state(&cmd.hdr), -1);
}

static void test_a_destroy_has_a_target(void **state)
{
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	command_init(&cmd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
	command_object(&cmd, UVERBS_ATTR_DESTROY_PD_HANDLE, 31);
	assert_int_equal(record(&r, &cmd, 0)->target, 31);
	assert_int_equal(wv_command_target(&cmd.hdr, command_row(&cmd)), 31);
}

static void test_a_failed_command_made_nothing(void **state)
{
	struct ib_uverbs_alloc_pd_resp out = {.pd_handle = 17};
	struct ib_uverbs_alloc_pd in = {.response = (uintptr_t)&out};
	struct recorder r;
	struct wv_step *step;
	struct command cmd;

	(void)state;
	begin(&r);
	command_legacy(&cmd, IB_USER_VERBS_CMD_ALLOC_PD, &in, sizeof(in), &out, sizeof(out));
	step = record(&r, &cmd, ENOMEM);
	assert_int_equal(step->error, ENOMEM);
	assert_int_equal(step->new_handle, WV_NONE);
}

static void test_the_data_path_and_state_are_not_recorded(void **state)
{
	struct ib_uverbs_reg_mr in = {.response = 1};
	struct ib_uverbs_reg_mr_resp out;
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	command_legacy(&cmd, IB_USER_VERBS_CMD_REG_MR, &in, sizeof(in), &out, sizeof(out));
	assert_null(record(&r, &cmd, 0));
	command_legacy(&cmd, IB_USER_VERBS_CMD_POST_SEND, NULL, 0, NULL, 0);
	assert_null(record(&r, &cmd, 0));
}

static void test_unknown_commands_are_said_to_be(void **state)
{
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	command_init(&cmd, UVERBS_OBJECT_QP, 99);
	assert_unknown(&r, &cmd);
	command_init(&cmd, 0x1001, 0); /* a driver's own */
	assert_unknown(&r, &cmd);
	command_legacy(&cmd, 4711, NULL, 0, NULL, 0);
	assert_unknown(&r, &cmd);
}

static void test_an_unknown_attribute_is_unknown(void **state)
{
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 1};
	uint32_t qp_num = 0, extra = 0;
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	build_create_qp(&cmd, &cap, &qp_num);
	command_in(&cmd, 99, &extra, sizeof(extra));
	assert_unknown(&r, &cmd);
	build_create_qp(&cmd, &cap,
			&qp_num); /* and the command log goes on as if it had not been */
	assert_non_null(record(&r, &cmd, 0));
}

static void test_an_enum_selector_is_unknown(void **state)
{
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 1};
	uint32_t qp_num = 0;
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	build_create_qp(&cmd, &cap, &qp_num);
	command_attr(&cmd, UVERBS_ATTR_CREATE_QP_TYPE)->attr_data.enum_data.elem_id = 1;
	assert_unknown(&r, &cmd);
}

static void test_an_array_of_handles_is_unknown(void **state)
{
	static const uint32_t handles[3] = {4, 5, 6};
	struct recorder r;
	struct command cmd;

	(void)state;
	begin(&r);
	for (size_t n = 1; n <= 3; n++) { /* inline, and behind a pointer */
		command_init(&cmd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
		command_in(&cmd, UVERBS_ATTR_CREATE_QP_PD_HANDLE, handles, n * sizeof(handles[0]));
		assert_unknown(&r, &cmd);
	}
}

static void test_a_full_tape_ends_the_recording_quietly(void **state)
{
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 1};
	uint32_t qp_num = 0;
	struct recorder r;
	struct command cmd;
	unsigned int n;

	(void)state;
	begin(&r);
	for (unsigned int i = 0; i < 50; i++) {
		build_create_qp(&cmd, &cap, &qp_num);
		assert_int_equal(wv_record_command(&r.w, &cmd.hdr, command_row(&cmd), NULL), 0);
		wv_record_answer(&r.w, &cmd.hdr, command_row(&cmd), 0);
	}
	n = r.w.cmdlog->n_steps;
	assert_true(r.w.full && n > 0 && n < 50);
	assert_int_equal(wv_cmdlog_check(r.w.cmdlog, r.w.cmdlog->bytes, WV_RECORD), 0);
	command_init(&cmd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY); /* small: would fit */
	command_object(&cmd, UVERBS_ATTR_DESTROY_PD_HANDLE, 4);
	assert_null(record(&r, &cmd, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_inline_address_is_left_out),
	    cmocka_unit_test(test_a_descriptor_in_the_answer),
	    cmocka_unit_test(test_inputs_are_copied_before_the_kernel_answers),
	    cmocka_unit_test(test_what_each_attribute_becomes),
	    cmocka_unit_test(test_the_target_is_inside_the_struct),
	    cmocka_unit_test(test_a_modify_that_asks_for_no_state),
	    cmocka_unit_test(test_a_destroy_has_a_target),
	    cmocka_unit_test(test_a_failed_command_made_nothing),
	    cmocka_unit_test(test_the_data_path_and_state_are_not_recorded),
	    cmocka_unit_test(test_unknown_commands_are_said_to_be),
	    cmocka_unit_test(test_an_unknown_attribute_is_unknown),
	    cmocka_unit_test(test_an_enum_selector_is_unknown),
	    cmocka_unit_test(test_an_array_of_handles_is_unknown),
	    cmocka_unit_test(test_a_full_tape_ends_the_recording_quietly),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
