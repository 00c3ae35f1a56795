/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kind of field of mlx5's rows: what must be equal to be the same command, and what may
 * differ.
 */
#include "mlx5_bench.h"

#include "cmdlog/validate.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

#define UHW UVERBS_ATTR_UHW_IN

struct run {
	bool adopted; /* the changed command of mlx5_run(), from the lease of the unchanged */
	unsigned int shared;
};

static struct run run_changed(const struct mlx5_change *change)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct run run;

	b->program.change = *change;
	mlx5_run(&b->program);
	assert_true(b->program.n_changed > change->nth);
	run.adopted = !strchr(b->preload.trail, 'k');
	run.shared = b->kernel.shared;
	bench_end(b);
	return run;
}

#define AT(struct_, field) offsetof(struct struct_, field)

static void expect(const struct mlx5_change *changes, size_t n, bool adopted)
{
	for (size_t i = 0; i < n; i++)
		if (run_changed(&changes[i]).adopted != adopted)
			fail_msg("%s number %u, attribute %#x, offset %u", changes[i].name,
				 changes[i].nth, changes[i].attr, changes[i].offset);
}

/* The object that the program makes instead has the memory that it received for the lease's. */
static void expect_nothing_shared(const struct mlx5_change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(run_changed(&changes[i]).shared, 0);
}

static void test_the_same_program_receives_all(void **state)
{
	static const struct mlx5_change none = {"GET_CONTEXT", 0, UHW, 0, 0, 0};

	(void)state;
	expect(&none, 1, true);
}

static void test_what_must_be_equal(void **state)
{
	static const struct mlx5_change changes[] = {
	    {"GET_CONTEXT", 0, UHW, 0, 1, 0},
	    {"query_hca_cap", 0, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 7, 2, 0},
	    {"uar_obj_alloc", 0, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0, 1, 0},
	    {"CQ_CREATE", 0, UVERBS_ATTR_CREATE_CQ_CQE, 0, 1, 0},
	    {"CQ_CREATE", 0, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 1, 0},
	    {"CQ_CREATE", 1, UHW, AT(mlx5_ib_create_cq, cqe_size), 0x40, 0},
	    {"CQ_CREATE", 1, UHW, AT(mlx5_ib_create_cq, cqe_comp_en), 1, 0},
	    {"CQ_CREATE", 1, UHW, AT(mlx5_ib_create_cq, cqe_comp_res_format), 1, 0},
	    {"CQ_CREATE", 1, UHW, AT(mlx5_ib_create_cq, flags), 1, 0},
	    {"SRQ_CREATE", 0, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0, 1, 0},
	    {"SRQ_CREATE", 0, UHW, AT(mlx5_ib_create_srq, flags), 1, 0},
	    {"SRQ_CREATE", 0, UHW, AT(mlx5_ib_create_srq, uidx), 1, 0},
	    {"QP_CREATE", 1, UVERBS_ATTR_CREATE_QP_CAP, 0, 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, sq_wqe_count), 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, rq_wqe_count), 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, rq_wqe_shift), 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, flags), 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, uidx) + 2, 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, ece_options), 1, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, dci_streams), 1, 0},
	    {"QP_CREATE", 3, UHW, AT(mlx5_ib_create_qp, access_key), 1, 0},
	    {"QP_CREATE", 3, UHW, AT(mlx5_ib_create_qp, access_key) + 7, 0x80, 0},
	    {"modify_qp", 1, UVERBS_ATTR_CORE_IN, AT(ib_uverbs_modify_qp, qkey), 1, 0},
	    {"modify_qp_ex", 0, UHW, 0, 1, 0},
	};

	(void)state;
	expect(changes, WV_ARRAY_SIZE(changes), false);
	expect_nothing_shared(changes, WV_ARRAY_SIZE(changes));
}

/* What names objects, numbers and memory is the lease's, and no other's. */
static void test_what_must_be_the_lease_s(void **state)
{
	static const struct mlx5_change changes[] = {
	    {"CQ_CREATE", 0, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, 0x40, 0},
	    {"CQ_CREATE", 0, UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, 0x40, 0},
	    {"QP_CREATE", 0, UVERBS_ATTR_CREATE_QP_EVENT_FD, 0, 0x40, 0},
	    {"QP_CREATE", 0, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, 1, 0},
	    {"QP_CREATE", 0, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, 2, 0},
	    {"CQ_CREATE", 0, UHW, AT(mlx5_ib_create_cq, uar_page_index), 1, 0},
	    {"QP_CREATE", 0, UHW, AT(mlx5_ib_create_qp, bfreg_index), 1, 0},
	    {"QP_CREATE", 0, UHW, AT(mlx5_ib_create_qp, bfreg_index) + 1, 1, 0},
	    {"CQ_CREATE", 0, UHW, AT(mlx5_ib_create_cq, buf_addr) + 1, 0x10, 0},
	    {"CQ_CREATE", 0, UHW, AT(mlx5_ib_create_cq, buf_addr), 8, 0},
	    {"CQ_CREATE", 0, UHW, AT(mlx5_ib_create_cq, db_addr) + 1, 0x8, 0},
	    {"SRQ_CREATE", 0, UHW, AT(mlx5_ib_create_srq, buf_addr) + 1, 0x10, 0},
	    {"SRQ_CREATE", 0, UHW, AT(mlx5_ib_create_srq, db_addr) + 1, 0x8, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, buf_addr) + 1, 0x10, 0},
	    {"QP_CREATE", 1, UHW, AT(mlx5_ib_create_qp, db_addr) + 1, 0x8, 0},
	    {"QP_CREATE", 3, UHW, AT(mlx5_ib_create_qp, buf_addr) + 1, 0x10, 0},
	    {"QP_CREATE", 3, UHW, AT(mlx5_ib_create_qp, db_addr) + 1, 0x10, 0},
	};

	(void)state;
	expect(changes, WV_ARRAY_SIZE(changes), false);
}

static void test_what_may_differ(void **state)
{
	static const struct mlx5_change changes[] = {
	    {"CQ_CREATE", 0, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 2, 0x55, 0},
	    {"SRQ_CREATE", 0, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 2, 0x55, 0},
	    {"QP_CREATE", 3, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 2, 0x55, 0},
	    {"modify_qp", 3, UVERBS_ATTR_CORE_IN, AT(ib_uverbs_modify_qp, sq_psn), 0x55, 0},
	    {"modify_qp", 2, UVERBS_ATTR_CORE_IN, AT(ib_uverbs_modify_qp, rq_psn), 0x55, 0},
	    {"modify_qp_ex", 1, UVERBS_ATTR_CORE_IN, AT(ib_uverbs_ex_modify_qp, base.rq_psn), 1, 0},
	    {"alloc_pd", 0, UVERBS_ATTR_CORE_IN, 0, 0, 0},
	};

	(void)state;
	expect(changes, WV_ARRAY_SIZE(changes), true);
}

/* A library of another version: its payloads are longer or shorter, whatever is in them. */
static void test_other_lengths(void **state)
{
	static const struct mlx5_change changes[] = {
	    {"GET_CONTEXT", 0, UHW, 0, 0, -4},
	    {"GET_CONTEXT", 0, UVERBS_ATTR_UHW_OUT, 0, 0, -8},
	    {"CQ_CREATE", 2, UHW, 0, 0, -4},
	    {"CQ_CREATE", 2, UVERBS_ATTR_UHW_OUT, 0, 0, -4},
	    {"SRQ_CREATE", 0, UHW, 0, 0, -4},
	    {"QP_CREATE", 2, UHW, 0, 0, -8},
	    {"QP_CREATE", 3, UVERBS_ATTR_UHW_OUT, 0, 0, -8},
	    {"query_device_ex", 0, UVERBS_ATTR_CORE_OUT, 0, 0, -8},
	};

	(void)state;
	expect(changes, WV_ARRAY_SIZE(changes), false);
}

static void test_other_lengths_are_told_as_shape(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_step *cq = tape_find(b->cmdlog, "CQ_CREATE", 0);
	struct mlx5_ib_create_cq uhw;
	struct wv_difference d;
	struct command cmd;

	(void)state;
	memcpy(&uhw, step_input(cq, UHW), sizeof(uhw));
	command_init(&cmd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	wv_each_attr (cq, attr)
		command_in(&cmd, attr->id, attr->id == UHW ? (void *)&uhw : &(uint64_t){0},
			   attr->id == UHW ? sizeof(uhw) - 4 : 0)
		    ->len = attr->id == UHW ? sizeof(uhw) - 4 : attr->len;
	for (unsigned int i = 0; i < cmd.hdr.num_attrs; i++) {
		const struct wv_attr *attr = &wv_step_attrs(cq)[i];

		if (attr->id != UHW && attr->kind == WV_EQUAL)
			memcpy(&cmd.attrs[i].data, wv_attr_bytes(cq, attr), 8);
		else if (attr->kind == WV_HANDLE)
			cmd.attrs[i].data = attr->data;
		else if (attr->kind == WV_FD)
			cmd.attrs[i].data_s64 = b->preload.lease->fds[attr->data];
	}
	b->preload.lease->given = 3;
	d = wv_lease_explain(b->preload.lease, &cmd.hdr, WV_NO_WRITE_CMD);
	assert_int_equal(d.why, WV_WHY_SHAPE);
	assert_int_equal(d.attr, UHW);
	bench_end(b);
}

/* The hardware's numbers are others in each kernel; the program is told the lease's. */
static void test_numbers_are_the_lease_s(void **state)
{
	wv_auto_free struct wv_cmdlog *record = mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = recipe_of(record);
	struct wv_step *cq = tape_find(recipe, "CQ_CREATE", 0);
	struct wv_step *qp = tape_find(recipe, "QP_CREATE", 0);
	struct mlx5_ib_create_cq *in_recipe = step_input(cq, UHW);
	struct mlx5_ib_create_qp *qp_in_recipe = step_input(qp, UHW);
	struct mlx5_bench *b = bench_lease(recipe);
	struct mlx5_ib_create_cq *leased = step_input(tape_find(b->cmdlog, "CQ_CREATE", 0), UHW);
	struct mlx5_ib_create_qp *qp_leased = step_input(tape_find(b->cmdlog, "QP_CREATE", 0), UHW);

	(void)state;
	assert_int_equal(in_recipe->uar_page_index,
			 0x8000 | step_index(recipe, tape_find(recipe, "uar_obj_alloc", 0)));
	assert_int_equal(qp_in_recipe->bfreg_index,
			 0x80000000 | step_index(recipe, tape_find(recipe, "uar_obj_alloc", 1)));
	assert_int_equal(leased->uar_page_index, 0x2345);
	assert_int_equal(qp_leased->bfreg_index, 0x2346);
	mlx5_run(&b->program);
	assert_int_equal(b->program.uar_number, 0x2345);
	assert_int_equal(b->program.bf_number, 0x2346);
	assert_null(strchr(b->preload.trail, 'k'));
	bench_end(b);
}

/* A page that the lease did not allocate: the number is the program's, and no step's. */
static void test_a_number_that_no_step_made_is_kept(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;

	(void)state;
	mlx5_open(&b->program);
	b->program.uar_number = 3;
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	b->program.uar_number = 0x8003; /* would be taken for a step's number */
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	recipe = bench_mlx5_recipe(b);
	bench_end(b);
	assert_int_equal(
	    ((struct mlx5_ib_create_cq *)step_input(tape_find(recipe, "CQ_CREATE", 0), UHW))
		->uar_page_index,
	    3);
	wv_each_step (recipe, step)
		if (step->class_ == WV_CREATE && step->object == UVERBS_OBJECT_CQ)
			assert_ptr_equal(step, tape_find(recipe, "CQ_CREATE", 0));
}

/* A number beyond what its field holds in the kernel of the lease: there is no lease then. */
static void test_a_number_too_large_for_its_field(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	static struct fake_kernel kernel;
	struct wv_replay out;

	(void)state;
	fake_kernel_init(&kernel);
	kernel.next_number = 0x10000;
	assert_int_equal(
	    wv_replay(recipe, fake_kernel_issue, &kernel, memory, WV_CMDLOG_MAX_BYTES, &out),
	    -EPROTO);
	assert_int_equal(fake_kernel_live(&kernel, UVERBS_OBJECT_CQ), 0);
	for (unsigned int i = 0; i < out.n_fds; i++)
		close(out.fds[i]);
	close(out.memory);
}

static void test_a_dc_target_has_no_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct mlx5_ib_create_qp *in_recipe = step_input(tape_find(recipe, "QP_CREATE", 3), UHW);
	struct mlx5_ib_create_qp *leased = step_input(tape_find(b->cmdlog, "QP_CREATE", 3), UHW);

	(void)state;
	assert_int_equal(in_recipe->buf_addr, 0);
	assert_int_equal(in_recipe->db_addr, 0);
	assert_int_equal(leased->buf_addr, 0); /* and not the start of the lease's memory */
	assert_int_equal(leased->db_addr, 0);
	assert_int_equal(leased->access_key, 0x1122334455667788);
	bench_end(b);
}

static void test_only_constants_of_the_firmware_are_prepared(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;

	(void)state;
	mlx5_firmware(&b->program, 0x100);
	assert_int_equal(b->unknown, 0);
	mlx5_firmware(&b->program, 0x101);
	assert_int_equal(b->unknown, 0);
	recipe = bench_mlx5_recipe(b);
	assert_steps(recipe, "query_hca_cap");
	bench_end(b);
}

static void test_another_firmware_command_is_the_kernel_s(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);

	(void)state;
	mlx5_open(&b->program);
	mlx5_firmware(&b->program, 0x101);
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	assert_string_equal(b->preload.trail, "aaaaaaaaka");
	bench_end(b);
}

static void test_rights_are_refused(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	struct wv_cost cost;
	const char *why;

	(void)state;
	mlx5_open(&b->program);
	mlx5_devx_obj_create(&b->program);
	recipe = bench_mlx5_recipe(b);
	bench_end(b);
	assert_non_null(tape_find(recipe, "devx_obj_create", 0));
	assert_int_equal(wv_validate(recipe, &cost, &why), -EPERM);
	assert_string_equal(why, "it needs capabilities that a lease does not give");
}

static void test_a_port_is_answered_only_while_opening(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);

	(void)state;
	b->preload.lease->opening = false;
	mlx5_query_port(&b->program);
	b->preload.lease->opening = true;
	mlx5_query_port(&b->program);
	mlx5_query_port(&b->program); /* once */
	assert_string_equal(b->preload.trail, "kak");
	bench_end(b);
}

/* A DC target goes to RTR, and there is no way back but to make it anew. */
static void test_dc_goes_as_far_as_needs_no_peer(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_step *dct = tape_find(b->cmdlog, "QP_CREATE", 3);
	struct wv_step *dci = tape_find(b->cmdlog, "QP_CREATE", 2);

	(void)state;
	assert_int_equal(b->kernel.objects[dct->new_handle].state, IBV_QPS_RTR);
	assert_int_equal(b->kernel.objects[dci->new_handle].state, IBV_QPS_RTS);
	assert_int_equal(wv_cmdlog_ahead(b->cmdlog, dct->new_handle)->state, IBV_QPS_RTR);
	bench_end(b);
}

/* One that cannot be put back is made anew, under its handle, and moved as the program's was. */
static void test_a_dc_target_is_taken_back(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct mlx5_change change = {"modify_qp_ex",
				     1,
				     UVERBS_ATTR_CORE_IN,
				     AT(ib_uverbs_ex_modify_qp, base.path_mtu),
				     1,
				     0};
	uint32_t made = b->kernel.made[UVERBS_OBJECT_QP];
	struct mlx5_made m;

	(void)state;
	b->program.change = change;
	m = mlx5_run(&b->program);
	assert_int_equal(b->program.error, 0);
	assert_string_equal(strchr(b->preload.trail, 'k'), "k"); /* the last move, no other */
	assert_int_equal(b->preload.rollbacks, 1);
	assert_int_equal(b->kernel.made[UVERBS_OBJECT_QP], made + 1);
	assert_int_equal(b->kernel.objects[m.dct].state, IBV_QPS_RTR);
	assert_int_equal(b->kernel.objects[m.dct].kind, UVERBS_OBJECT_QP);
	assert_int_equal(b->kernel.shared, 0);
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_same_program_receives_all),
	    cmocka_unit_test(test_what_must_be_equal),
	    cmocka_unit_test(test_what_must_be_the_lease_s),
	    cmocka_unit_test(test_what_may_differ),
	    cmocka_unit_test(test_other_lengths),
	    cmocka_unit_test(test_other_lengths_are_told_as_shape),
	    cmocka_unit_test(test_numbers_are_the_lease_s),
	    cmocka_unit_test(test_a_number_that_no_step_made_is_kept),
	    cmocka_unit_test(test_a_number_too_large_for_its_field),
	    cmocka_unit_test(test_a_dc_target_has_no_memory),
	    cmocka_unit_test(test_only_constants_of_the_firmware_are_prepared),
	    cmocka_unit_test(test_another_firmware_command_is_the_kernel_s),
	    cmocka_unit_test(test_rights_are_refused),
	    cmocka_unit_test(test_a_port_is_answered_only_while_opening),
	    cmocka_unit_test(test_dc_goes_as_far_as_needs_no_peer),
	    cmocka_unit_test(test_a_dc_target_is_taken_back),
	};

	return cmocka_run_group_tests_name("mlx5", tests, NULL, NULL);
}
