/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues in memory of the program: from its allocations to steps, to memory of a lease, and to the
 * program again. And recipes of it from programs that nobody trusts.
 */
#include "mlx5_bench.h"

#include "cmdlog/adopt_memory.h"
#include "cmdlog/arena.h"
#include "cmdlog/pattern.h"
#include "cmdlog/rivals.h"
#include "cmdlog/validate.h"

#define UHW UVERBS_ATTR_UHW_IN

static uint64_t size_of(struct wv_cmdlog *cmdlog, unsigned int nth)
{
	return wv_step_memory_size(tape_find(cmdlog, "memory", nth));
}

/* A buffer before the doorbell page, as they were allocated, and both before who names them. */
static void test_memory_becomes_steps(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_ib_create_cq *cq = step_input(tape_find(recipe, "CQ_CREATE", 0), UHW);
	struct mlx5_ib_create_qp *qp = step_input(tape_find(recipe, "QP_CREATE", 1), UHW);
	uint64_t buffer = step_index(recipe, tape_find(recipe, "memory", 0));
	uint64_t doorbells = step_index(recipe, tape_find(recipe, "memory", 1));
	uint64_t qp_buffer = step_index(recipe, tape_find(recipe, "memory", 6));

	(void)state;
	assert_steps(recipe, MLX5_RUN);
	assert_int_equal(size_of(recipe, 0), 64 * 64);
	assert_int_equal(size_of(recipe, 1), 4096);
	assert_int_equal(size_of(recipe, 2), 64 * 128);
	assert_int_equal(size_of(recipe, 4), 256 * 32);
	assert_int_equal(size_of(recipe, 5), 512);
	assert_int_equal(cq->buf_addr, (buffer + 1) << 32);
	assert_int_equal(cq->db_addr, (doorbells + 1) << 32);
	assert_int_equal(qp->buf_addr, (qp_buffer + 1) << 32);
	assert_int_equal(qp->db_addr, (doorbells + 1) << 32 | 5 * MLX5_SLOT);
}

/* The next run asks for memory in the order in which this one did, whoever names it first. */
static void test_memory_is_in_the_order_of_allocation(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	struct mlx5_ib_create_cq *cq;

	(void)state;
	mlx5_open(&b->program);
	b->program.doorbells = b->program.alloc(b, 4096); /* before a buffer of the same size */
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	recipe = bench_mlx5_recipe(b);
	bench_end(b);
	cq = step_input(tape_find(recipe, "CQ_CREATE", 0), UHW);
	assert_int_equal(cq->db_addr >> 32, step_index(recipe, tape_find(recipe, "memory", 0)) + 1);
	assert_int_equal(cq->buf_addr >> 32,
			 step_index(recipe, tape_find(recipe, "memory", 1)) + 1);
}

static void test_contents_are_recorded(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	static const struct {
		unsigned int nth;
		struct wv_series series;
	} expected[] = {
	    {0, {.offset = 62, .stride = 64, .count = 64, .value = 0x00f0}},
	    {2, {.offset = 126, .stride = 128, .count = 64, .value = 0x00f0}},
	    {4, {.offset = 2, .stride = 32, .count = 255, .value = 1, .step = 1}},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(expected); i++) {
		struct wv_step *step = tape_find(recipe, "memory", expected[i].nth);
		struct wv_attr *attr = wv_step_attr(step, WV_ATTR_MEMORY_PATTERN);

		assert_int_equal(attr->len, sizeof(struct wv_series));
		assert_memory_equal(wv_attr_bytes(step, attr), &expected[i].series, attr->len);
	}
	assert_int_equal(wv_step_attr(tape_find(recipe, "memory", 1), WV_ATTR_MEMORY_PATTERN)->len,
			 0);
}

/* Wherever the allocator put it, and whatever the hardware's numbers were. */
static void test_equal_programs_have_equal_recipes(void **state)
{
	wv_auto_free struct wv_cmdlog *a = mlx5_recipe();
	struct mlx5_bench *b = bench_mlx5_record();
	void *in_the_way = malloc(70000);
	wv_auto_free struct wv_cmdlog *again = NULL;

	(void)state;
	b->kernel.next_number = 0x77;
	b->program.base = 0x123456780000;
	mlx5_run(&b->program);
	again = bench_mlx5_recipe(b);
	bench_end(b);
	free(in_the_way);
	assert_int_equal(a->bytes, again->bytes);
	assert_memory_equal(a, again, a->bytes);
}

/* Of memory that nobody saw being allocated nothing is known; so of all that builds on it. */
static void test_unseen_memory_is_left_out(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	uint32_t seen, unseen, qp;
	struct wv_cost cost;
	const char *why;

	(void)state;
	mlx5_open(&b->program);
	seen = mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	b->unseen = true;
	unseen = mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	b->unseen = false;
	qp = mlx5_create_qp(&b->program, unseen, IB_UVERBS_QPT_RC, 0);
	mlx5_move(&b->program, qp, IBV_QPS_INIT);
	mlx5_create_qp(&b->program, seen, IB_UVERBS_QPT_RC, 0);
	recipe = bench_mlx5_recipe(b);
	bench_end(b);
	/* The first QP's memory was seen: nobody fills it, but it keeps the sizes' order. */
	assert_null(wv_step_attr(tape_find(recipe, "memory", 2), WV_ATTR_MEMORY_PATTERN));
	assert_non_null(wv_step_attr(tape_find(recipe, "memory", 0), WV_ATTR_MEMORY_PATTERN));
	assert_int_equal(wv_validate(recipe, &cost, &why), 0);
	assert_steps(recipe,
		     "GET_CONTEXT query_hca_cap query_device_ex QUERY_PORT uar_obj_alloc "
		     "ASYNC_EVENT_ALLOC alloc_pd create_comp_channel memory memory CQ_CREATE "
		     "uar_obj_alloc memory memory QP_CREATE");
}

/* A doorbell page that was not seen takes all with it that has a record in it. */
static void test_an_unseen_doorbell_page(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;

	(void)state;
	mlx5_open(&b->program);
	b->unseen = true;
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	b->unseen = false;
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	recipe = bench_mlx5_recipe(b);
	bench_end(b);
	wv_each_step (recipe, step)
		assert_string_not_equal(step_name(step), "CQ_CREATE");
}

static int fill_and_issue(void *owner, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct mlx5_bench *b = owner;
	uint64_t seed = 1;

	if (cmd->object_id == UVERBS_OBJECT_CQ)
		for (size_t i = 0; i < 4096; i++)
			((uint8_t *)b->own[0])[i] = (uint8_t)pseudo_random(&seed);
	b->unknown += wv_record_command(&b->record, cmd,
					wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id,
						    wv_abi_write_cmd(cmd)),
					&b->allocations) == WV_UNKNOWN;
	wv_record_answer(
	    &b->record, cmd,
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd)),
	    fake_kernel_issue(&b->kernel, cmd));
	return 0;
}

static void test_irregular_memory_is_left_out(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;

	(void)state;
	mlx5_open(&b->program);
	b->program.issue = fill_and_issue;
	mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL);
	recipe = bench_mlx5_recipe(b);
	assert_int_equal(tape_find(b->record.cmdlog, "memory", 0)->error, E2BIG);
	bench_end(b);
	assert_steps(recipe,
		     "GET_CONTEXT query_hca_cap query_device_ex QUERY_PORT uar_obj_alloc "
		     "ASYNC_EVENT_ALLOC alloc_pd create_comp_channel memory"); /* of doorbells */
}

/* The kernel sees queues as the program's provider leaves them, and the lease's memory is them. */
static void test_a_lease_s_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	uint32_t cq = tape_find(b->cmdlog, "CQ_CREATE", 0)->new_handle;
	uint32_t srq = tape_find(b->cmdlog, "SRQ_CREATE", 0)->new_handle;
	uint32_t offset = tape_find(b->cmdlog, "memory", 0)->new_number;

	(void)state;
	assert_int_equal(b->cmdlog->memory, wv_recipe_memory(recipe));
	assert_int_equal(b->kernel.objects[cq].seen[62], 0);
	assert_int_equal(b->kernel.objects[cq].seen[63], 0xf0);
	assert_int_equal(b->kernel.objects[cq].seen[127], 0xf0);
	assert_int_equal(b->kernel.objects[srq].seen[3], 1);
	assert_int_equal(b->kernel.objects[srq].seen[35], 2);
	assert_true(offset >= 4096); /* 0 is no memory */
	assert_int_equal(b->memory[offset + 63], 0xf0);
	assert_int_equal(b->memory[0], 0);
	assert_int_equal(b->kernel.shared, 0);
	bench_end(b);
}

static void test_a_lease_names_offsets_until_it_is_placed(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	wv_auto_free struct wv_cmdlog *placed = NULL;
	struct mlx5_bench *b = bench_lease(recipe);
	uint32_t buffer = tape_find(b->cmdlog, "memory", 0)->new_number;
	uint32_t doorbells = tape_find(b->cmdlog, "memory", 1)->new_number;
	struct mlx5_ib_create_cq *cq = step_input(tape_find(b->cmdlog, "CQ_CREATE", 1), UHW);

	(void)state;
	assert_int_equal(cq->db_addr, (uintptr_t)b->memory + doorbells + MLX5_SLOT);
	placed = copy_exactly(b->cmdlog, b->cmdlog->bytes);
	wv_each_step (placed, step)
		wv_step_place(step, -(uint64_t)(uintptr_t)b->memory);
	cq = step_input(tape_find(placed, "CQ_CREATE", 0), UHW);
	assert_int_equal(cq->buf_addr, buffer);
	assert_int_equal(cq->db_addr, doorbells);
	bench_end(b);
}

static void test_a_program_receives_its_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);

	(void)state;
	mlx5_run(&b->program);
	assert_int_equal(b->from_lease, 8);
	assert_int_equal(b->n_own, 0);
	assert_null(strchr(b->preload.trail, 'k'));
	bench_end(b);
}

/* Among equal sizes the order is that of the recording; other sizes between do not matter. */
static void test_equal_sizes_are_given_in_order(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_lease *lease = b->preload.lease;
	uint8_t *qp[3], *cq[3];

	(void)state;
	qp[0] = wv_lease_claim_memory(lease, 512);
	cq[0] = wv_lease_claim_memory(lease, 4096);
	qp[1] = wv_lease_claim_memory(lease, 512);
	cq[1] = wv_lease_claim_memory(lease, 4096);
	qp[2] = wv_lease_claim_memory(lease, 512);
	cq[2] = wv_lease_claim_memory(lease, 4096);
	for (unsigned int i = 0; i < 3; i++)
		assert_ptr_equal(qp[i],
				 b->memory + tape_find(b->cmdlog, "memory", 5 + i)->new_number);
	assert_ptr_equal(cq[0], b->memory + tape_find(b->cmdlog, "memory", 0)->new_number);
	assert_ptr_equal(cq[1], b->memory + tape_find(b->cmdlog, "memory", 1)->new_number);
	assert_ptr_equal(cq[2], b->memory + tape_find(b->cmdlog, "memory", 3)->new_number);
	assert_null(wv_lease_claim_memory(lease, 512));
	assert_null(wv_lease_claim_memory(lease, 4096));
	assert_null(wv_lease_claim_memory(lease, 4095)); /* of a whole page, but another size */
	assert_null(wv_lease_claim_memory(lease, 0));
	bench_end(b);
}

static void test_without_memory_nothing_is_given(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_lease unplaced;

	(void)state;
	wv_lease_init(&unplaced, b->cmdlog);
	assert_null(wv_lease_claim_memory(&unplaced, 4096));
	bench_end(b);
}

/* A command that creates a CQ in the memory given. */
static struct wv_step *rival_of(struct mlx5_bench *b, const void *buffer, const void *doorbell)
{
	struct mlx5_ib_create_cq uhw = {.buf_addr = (uintptr_t)buffer,
					.db_addr = (uintptr_t)doorbell};
	struct command cmd;

	command_init(&cmd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	command_in(&cmd, UHW, &uhw, sizeof(uhw));
	return wv_lease_rival(b->preload.lease, &cmd.hdr, command_row(&cmd));
}

static void test_who_is_a_rival(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_step *cq = tape_find(b->cmdlog, "CQ_CREATE", 0);
	struct wv_step *large = tape_find(b->cmdlog, "CQ_CREATE", 1);
	struct wv_step *srq = tape_find(b->cmdlog, "SRQ_CREATE", 0);
	uint8_t *buffer = b->memory + tape_find(b->cmdlog, "memory", 0)->new_number;
	uint8_t *doorbells = b->memory + tape_find(b->cmdlog, "memory", 1)->new_number;
	uint8_t *own = malloc(8192);

	(void)state;
	assert_ptr_equal(rival_of(b, buffer, own), cq);
	assert_ptr_equal(rival_of(b, buffer + 64, own), cq); /* in the middle of its queue */
	assert_ptr_equal(rival_of(b, own, doorbells + MLX5_SLOT), large);
	assert_ptr_equal(rival_of(b, own, doorbells + 3 * MLX5_SLOT), srq);
	assert_null(rival_of(b, own, doorbells + 40 * MLX5_SLOT)); /* another record of the page */
	assert_null(rival_of(b, own, own + 4096));
	assert_null(rival_of(b, NULL, NULL));
	/* A queue where there are records, and a record where there is a queue. */
	assert_int_equal(rival_of(b, doorbells + 2048, own)->class_, WV_CREATE);
	assert_ptr_equal(rival_of(b, own, buffer + 128), cq);
	/* Outside the lease's memory, at its very edges. */
	assert_null(rival_of(b, b->memory - 1, b->memory + b->cmdlog->memory));
	free(own);
	bench_end(b);
}

static void test_who_is_a_rival_no_more(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_step *cq = tape_find(b->cmdlog, "CQ_CREATE", 0);
	uint8_t *buffer = b->memory + tape_find(b->cmdlog, "memory", 0)->new_number;

	(void)state;
	cq->state = WV_DEAD; /* never to be matched, but it exists */
	assert_ptr_equal(rival_of(b, buffer, NULL), cq);
	cq->state = WV_TAKEN; /* the program's own: what it does to that is its own affair */
	assert_null(rival_of(b, buffer, NULL));
	cq->state = WV_GONE;
	assert_null(rival_of(b, buffer, NULL));
	bench_end(b);
}

/* What is never made ahead has queues too: a CQ that grows, and a WQ. */
static void test_rivals_of_what_is_not_prepared(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	uint64_t buffer = (uintptr_t)b->memory + tape_find(b->cmdlog, "memory", 0)->new_number;
	struct mlx5_ib_resize_cq resize = {.buf_addr = buffer};
	struct mlx5_ib_create_wq wq = {.buf_addr = buffer};
	struct wv_step *cq = tape_find(b->cmdlog, "CQ_CREATE", 0);
	struct command cmd;

	(void)state;
	command_legacy(&cmd, IB_USER_VERBS_CMD_RESIZE_CQ, NULL, 0, NULL, 0);
	command_in(&cmd, UHW, &resize, sizeof(resize));
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	assert_ptr_equal(wv_lease_rival(b->preload.lease, &cmd.hdr, command_row(&cmd)), cq);
	command_init(&cmd, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE);
	command_in(&cmd, UHW, &wq, sizeof(wq));
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	assert_ptr_equal(wv_lease_rival(b->preload.lease, &cmd.hdr, command_row(&cmd)), cq);
	bench_end(b);
}

/* A CQ that is other than the lease's, in memory of the lease: the lease's is destroyed first. */
static void test_rivals_are_destroyed_first(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	unsigned int before = fake_kernel_live(&b->kernel, UVERBS_OBJECT_CQ);

	(void)state;
	mlx5_open(&b->program);
	b->program.change = (struct mlx5_change){"CQ_CREATE", 0, UVERBS_ATTR_CREATE_CQ_CQE, 0, 1};
	assert_int_not_equal(mlx5_create_cq(&b->program, 64, MLX5_CQE_SMALL), WV_NONE);
	assert_int_equal(b->from_lease, 2);
	assert_int_equal(b->kernel.shared, 0);
	/* Its RC queue pair went before it, and the DC target that has it for receives. */
	assert_int_equal(b->preload.purges, 3);
	assert_int_equal(fake_kernel_live(&b->kernel, UVERBS_OBJECT_CQ), before);
	assert_int_equal(tape_find(b->cmdlog, "CQ_CREATE", 0)->state, WV_GONE);
	assert_int_equal(tape_find(b->cmdlog, "QP_CREATE", 0)->state, WV_GONE);
	assert_int_equal(tape_find(b->cmdlog, "QP_CREATE", 3)->state, WV_GONE);
	mlx5_create_cq(&b->program, 64, MLX5_CQE_LARGE);
	assert_string_equal(b->preload.trail, "aaaaaaaaka"); /* the others are there still */
	bench_end(b);
}

#define REFUSED_SIZE	 "memory of a size that is not prepared"
#define REFUSED_CONTENTS "an initial pattern that does not fit its memory"
#define REFUSED_REF	 "a reference to something that no earlier step makes"
#define REFUSED_SUM	 "its queues take too much memory"
#define REFUSED_MOVE	 "a queue pair may not be moved so far ahead"

static const char *why_refused(struct wv_cmdlog *recipe)
{
	struct wv_cost cost;
	const char *why;
	int err;

	assert_int_equal(wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE), 0);
	err = wv_validate(recipe, &cost, &why);
	assert_int_equal(err, why ? -EPERM : 0);
	return why ? why : "";
}

static void test_the_recipe_is_allowed(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct wv_cost cost;
	const char *why;

	(void)state;
	assert_string_equal(why_refused(recipe), "");
	assert_int_equal(wv_validate(recipe, &cost, &why), 0);
	assert_int_equal(cost.fds, 4); /* ufile, async events, channel, memory */
	assert_int_equal(cost.cqs, 3);
	assert_int_equal(cost.qps, 4);
	assert_true(cost.bytes > wv_recipe_memory(recipe));
}

static void test_sizes_of_memory(void **state)
{
	static const struct {
		uint64_t size;
		const char *why;
	} cases[] = {
	    {4096, ""},
	    {0, REFUSED_SIZE},
	    {WV_CMDLOG_MAX_MEMORY + 1ull, REFUSED_SIZE},
	    {UINT64_MAX, REFUSED_SIZE},
	    {1ull << 32 | 4096, REFUSED_SIZE}, /* 4096 in 32 bits */
	    {WV_CMDLOG_MAX_MEMORY, REFUSED_SUM},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();

		memcpy(step_input(tape_find(recipe, "memory", 1), WV_ATTR_MEMORY_SIZE),
		       &cases[i].size, sizeof(cases[i].size));
		assert_string_equal(why_refused(recipe), cases[i].why);
	}
}

/* The kernel pins pages, however few bytes of them are asked for. */
static void test_what_memory_costs(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	uint64_t *size = step_input(tape_find(recipe, "memory", 7), WV_ATTR_MEMORY_SIZE);
	uint64_t need = wv_recipe_memory(recipe);
	struct wv_cost before, after;
	const char *why;

	(void)state;
	assert_int_equal(wv_validate(recipe, &before, &why), 0);
	*size += 100 * 4096;
	assert_int_equal(wv_validate(recipe, &after, &why), 0);
	assert_int_equal(after.bytes - before.bytes, 100 * 4096);
	assert_int_equal(wv_recipe_memory(recipe) - need, 100 * 4096);
	*size = 1;
	assert_int_equal(wv_validate(recipe, &after, &why), 0);
	assert_int_equal(after.bytes, before.bytes);
}

static void test_memory_that_failed(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();

	(void)state;
	tape_find(recipe, "memory", 0)->error = E2BIG;
	assert_string_equal(why_refused(recipe), REFUSED_SIZE);
}

static void test_memory_without_a_size(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct wv_step *memory = tape_find(recipe, "memory", 0);
	struct wv_attr *size = wv_step_attr(memory, WV_ATTR_MEMORY_SIZE);

	(void)state;
	size->len = 4;
	assert_int_equal(wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE), -EPROTO);
	size->len = 8;
	size->id = WV_ATTR_MEMORY_PATTERN;
	assert_int_equal(wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE), -EPROTO);
}

static void test_contents_beyond_the_memory(void **state)
{
	static const struct wv_series series[] = {
	    {.offset = 62, .stride = 64, .count = 65},
	    {.offset = 62, .stride = 0, .count = 2},
	    {.offset = 62, .stride = 0, .count = 0},
	    {.offset = 0xfffffffe, .stride = 64, .count = 1},
	    {.offset = 62, .stride = 0x10000000, .count = 17},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(series); i++) {
		wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();

		memcpy(step_input(tape_find(recipe, "memory", 0), WV_ATTR_MEMORY_PATTERN),
		       &series[i], sizeof(series[i]));
		assert_string_equal(why_refused(recipe), REFUSED_CONTENTS);
	}
}

static void test_contents_of_half_a_series(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct wv_step *memory = tape_find(recipe, "memory", 0);

	(void)state;
	wv_step_attr(memory, WV_ATTR_MEMORY_PATTERN)->len = sizeof(struct wv_series) - 1;
	assert_string_equal(why_refused(recipe), REFUSED_CONTENTS);
}

/* What a create command of the recipe names instead of its buffer and its doorbell record. */
static void test_references_into_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_ib_create_cq *cq = step_input(tape_find(recipe, "CQ_CREATE", 0), UHW);
	const struct mlx5_ib_create_cq right = *cq;
	uint64_t buffer = right.buf_addr, page = right.db_addr;
	uint64_t itself = (step_index(recipe, tape_find(recipe, "CQ_CREATE", 0)) + 1ull) << 32;
	uint64_t later = (step_index(recipe, tape_find(recipe, "memory", 4)) + 1ull) << 32;
	const uint64_t wrong[][2] = {
	    {buffer | 8, page},				 /* not where the memory begins */
	    {buffer, page | 4096},			 /* behind it */
	    {buffer, page | 0xffffffc0},		 /* far behind it */
	    {later, page},				 /* not yet made */
	    {buffer, later},				 /* the same */
	    {itself, page},				 /* no memory */
	    {2ull << 32, page},				 /* a constant */
	    {0x7f0000001000, page},			 /* an address of the builder */
	    {buffer, 0x7f0000001040},			 /* the same */
	    {0x1000, page},				 /* no step, but an offset */
	    {WV_FOREIGN_MEMORY, page},			 /* only in records */
	    {(uint64_t)WV_CMDLOG_MAX_STEPS << 33, page}, /* no such step */
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		cq->buf_addr = wrong[i][0];
		cq->db_addr = wrong[i][1];
		assert_string_equal(why_refused(recipe), REFUSED_REF);
	}
	*cq = right;
	assert_string_equal(why_refused(recipe), "");
	cq->db_addr = page | 4088;
	assert_string_equal(why_refused(recipe), "");
	cq->buf_addr = cq->db_addr = 0; /* nobody fills memory that no command names */
	assert_string_equal(why_refused(recipe),
			    "an initial pattern of memory that no command names");
}

static void test_references_to_numbers(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_ib_create_cq *cq = step_input(tape_find(recipe, "CQ_CREATE", 0), UHW);
	uint16_t right = cq->uar_page_index;
	unsigned int itself = step_index(recipe, tape_find(recipe, "CQ_CREATE", 0));
	unsigned int memory = step_index(recipe, tape_find(recipe, "memory", 0));
	const uint16_t wrong[] = {(uint16_t)(0x8000 | itself), (uint16_t)(0x8000 | (itself + 1)),
				  0xffff, (uint16_t)(0x8000 | memory)};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		cq->uar_page_index = wrong[i];
		assert_string_equal(why_refused(recipe), REFUSED_REF);
	}
	cq->uar_page_index = right;
	assert_string_equal(why_refused(recipe), "");
}

/* Part of an address would be taken as it is: the builder's memory, not the lease's. */
static void test_a_payload_that_ends_in_an_address(void **state)
{
	static const uint16_t lengths[] = {4, 9, 12, 15};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(lengths); i++) {
		wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();

		wv_step_attr(tape_find(recipe, "CQ_CREATE", 0), UHW)->len = lengths[i];
		assert_string_equal(why_refused(recipe), "a payload ends inside a field");
	}
}

static void test_moves_of_dc(void **state)
{
	static const struct {
		const char *move;
		unsigned int nth;
		uint8_t state;
	} wrong[] = {
	    {"modify_qp_ex", 1, IBV_QPS_RTS}, /* a DC target goes to RTR, */
	    {"modify_qp_ex", 0, IBV_QPS_RTR}, /* not at once */
	    {"modify_qp", 6, IBV_QPS_SQD},
	    {"modify_qp", 4, IBV_QPS_RTR},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
		struct wv_step *step = tape_find(recipe, wrong[i].move, wrong[i].nth);

		((struct ib_uverbs_modify_qp *)step_input(step, UVERBS_ATTR_CORE_IN))->qp_state =
		    wrong[i].state;
		assert_string_equal(why_refused(recipe), REFUSED_MOVE);
	}
}

/* The type is in the private payload, which comes from the same hand. */
static void test_a_dc_target_that_claims_to_be_an_initiator(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_ib_create_qp *dci = step_input(tape_find(recipe, "QP_CREATE", 2), UHW);

	(void)state;
	dci->flags ^= MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT;
	assert_string_equal(why_refused(recipe), REFUSED_MOVE);
	dci->flags |= MLX5_QP_FLAG_TYPE_DCI;
	assert_string_equal(why_refused(recipe), "this type of queue pair is not prepared");
	dci->flags &= ~(uint32_t)(MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT);
	assert_string_equal(why_refused(recipe), "this type of queue pair is not prepared");
}

/*
 * The core's row knows no addresses in a private payload. A command log cannot choose it for a
 * command of mlx5's, and a command log that calls itself another driver's is refused by the kernel,
 * which is asked in that driver's name.
 */
static void test_a_tape_cannot_choose_its_row(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct wv_step *cq = tape_find(recipe, "CQ_CREATE", 0);
	const struct wv_command_row *core =
	    wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, WV_NO_WRITE_CMD);
	struct mlx5_ib_create_cq *uhw = step_input(cq, UHW);

	(void)state;
	uhw->buf_addr = 0x7f0000001000;
	cq->row = wv_abi_index(core);
	assert_string_equal(why_refused(recipe), REFUSED_REF);
	assert_ptr_not_equal(wv_step_row(cq), core);
	assert_int_equal(wv_step_row(cq)->driver_id, RDMA_DRIVER_MLX5);
	for (unsigned int row = 0; row <= UINT8_MAX; row++) {
		cq->row = (uint8_t)row;
		assert_string_equal(why_refused(recipe), REFUSED_REF);
	}
}

static void test_an_attribute_given_twice(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct wv_step *cq = tape_find(recipe, "CQ_CREATE", 0);
	struct wv_step *memory = tape_find(recipe, "memory", 0);

	(void)state; /* the second UHW_IN could name any address */
	wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR)->id = UHW;
	assert_string_equal(why_refused(recipe), "an attribute is given twice");
	wv_step_attr(cq, UHW)->id = UVERBS_ATTR_CREATE_CQ_COMP_VECTOR;
	wv_step_attr(memory, WV_ATTR_MEMORY_PATTERN)->id = WV_ATTR_MEMORY_SIZE;
	assert_string_equal(why_refused(recipe), "an attribute is given twice");
}

/* A lease comes from the daemon, but a mapping that is too short would end the program. */
static void test_memory_outside_the_lease_s(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_cmdlog *cmdlog = copy_exactly(b->cmdlog, b->cmdlog->bytes);
	struct wv_step *last = tape_find(cmdlog, "memory", 7);
	uint32_t right = last->new_number;

	(void)state;
	assert_int_equal(wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_LEASE), 0);
	last->new_number = cmdlog->memory;
	assert_int_equal(wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_LEASE), -EPROTO);
	last->new_number = WV_NONE;
	assert_int_equal(wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_LEASE), -EPROTO);
	last->new_number = right;
	cmdlog->memory = right + 511;
	assert_int_equal(wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_LEASE), -EPROTO);
	cmdlog->memory = right + 512;
	assert_int_equal(wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_LEASE), 0);
	cmdlog->memory = WV_CMDLOG_MAX_MEMORY + 1u;
	assert_int_equal(wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_LEASE), -EPROTO);
	free(cmdlog);
	bench_end(b);
}

/* Nothing of it is left, whichever step fails. */
static void test_every_step_can_fail(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = mlx5_recipe();
	unsigned int commands = 0;

	(void)state;
	wv_each_step (recipe, step)
		commands += step->class_ != WV_MEMORY;
	for (unsigned int k = 0; k < commands; k++) {
		wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
		static struct fake_kernel kernel;
		unsigned int fds = count_fds();
		struct wv_replay out;

		fake_kernel_init(&kernel);
		kernel.fail_at = (int)k;
		kernel.fail_errno = ENOMEM;
		assert_int_equal(wv_replay(recipe, fake_kernel_issue, &kernel, memory,
					   WV_CMDLOG_MAX_BYTES, &out),
				 -EPROTO);
		assert_int_equal(out.failed_errno, ENOMEM);
		for (unsigned int i = 0; i < out.n_fds; i++)
			close(out.fds[i]);
		assert_int_equal(close(out.memory), 0);
		assert_int_equal(count_fds(), fds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_memory_becomes_steps),
	    cmocka_unit_test(test_memory_is_in_the_order_of_allocation),
	    cmocka_unit_test(test_contents_are_recorded),
	    cmocka_unit_test(test_equal_programs_have_equal_recipes),
	    cmocka_unit_test(test_unseen_memory_is_left_out),
	    cmocka_unit_test(test_an_unseen_doorbell_page),
	    cmocka_unit_test(test_irregular_memory_is_left_out),
	    cmocka_unit_test(test_a_lease_s_memory),
	    cmocka_unit_test(test_a_lease_names_offsets_until_it_is_placed),
	    cmocka_unit_test(test_a_program_receives_its_memory),
	    cmocka_unit_test(test_equal_sizes_are_given_in_order),
	    cmocka_unit_test(test_without_memory_nothing_is_given),
	    cmocka_unit_test(test_who_is_a_rival),
	    cmocka_unit_test(test_who_is_a_rival_no_more),
	    cmocka_unit_test(test_rivals_of_what_is_not_prepared),
	    cmocka_unit_test(test_rivals_are_destroyed_first),
	    cmocka_unit_test(test_the_recipe_is_allowed),
	    cmocka_unit_test(test_sizes_of_memory),
	    cmocka_unit_test(test_what_memory_costs),
	    cmocka_unit_test(test_memory_that_failed),
	    cmocka_unit_test(test_memory_without_a_size),
	    cmocka_unit_test(test_contents_beyond_the_memory),
	    cmocka_unit_test(test_contents_of_half_a_series),
	    cmocka_unit_test(test_references_into_memory),
	    cmocka_unit_test(test_references_to_numbers),
	    cmocka_unit_test(test_a_payload_that_ends_in_an_address),
	    cmocka_unit_test(test_moves_of_dc),
	    cmocka_unit_test(test_a_dc_target_that_claims_to_be_an_initiator),
	    cmocka_unit_test(test_a_tape_cannot_choose_its_row),
	    cmocka_unit_test(test_an_attribute_given_twice),
	    cmocka_unit_test(test_memory_outside_the_lease_s),
	    cmocka_unit_test(test_every_step_can_fail),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
