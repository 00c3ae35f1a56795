/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that a lease registers: from a program's command to that of the next program like it. */
#include "mlx5_bench.h"

#include "cmdlog/adopt_memory.h"
#include "cmdlog/mr_steps.h"
#include "cmdlog/validate.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>

#define BYTES 8192

static int register_at(struct mlx5_program *p, uint64_t at, uint64_t bytes, uint32_t access)
{
	struct ib_uverbs_reg_mr_resp out = {0};
	struct ib_uverbs_reg_mr in = {.response = (uintptr_t)&out,
				      .start = at,
				      .length = bytes,
				      .hca_va = at,
				      .pd_handle = p->pd,
				      .access_flags = access};
	struct command cmd;

	command_legacy(&cmd, IB_USER_VERBS_CMD_REG_MR, &in, sizeof(in), &out, sizeof(out));
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	return p->issue(p->kernel, &cmd.hdr);
}

/* A program that registers memory of its own, and a part of what it allocates by the library. */
static struct wv_cmdlog *recorded(uint32_t access)
{
	struct mlx5_bench *b = bench_mlx5_record();
	struct wv_cmdlog *recipe;
	uint8_t own[BYTES];
	void *at;

	mlx5_open(&b->program);
	assert_int_equal(register_at(&b->program, (uintptr_t)own, BYTES, access), 0);
	at = b->program.alloc(b, BYTES);
	assert_int_equal(register_at(&b->program, (uintptr_t)at, 5000, access), 0);
	recipe = bench_mlx5_recipe(b);
	bench_end(b);
	return recipe;
}

static void test_only_known_memory_becomes_a_step(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = recorded(IBV_ACCESS_LOCAL_WRITE);
	uint64_t memory = step_index(recipe, tape_find(recipe, "memory", 0));
	const struct ib_uverbs_reg_mr *mr = wv_step_registration(tape_find(recipe, "reg_mr", 0));
	struct wv_cost cost;
	const char *why;

	(void)state;
	assert_steps(recipe, "GET_CONTEXT query_hca_cap query_device_ex QUERY_PORT uar_obj_alloc "
			     "ASYNC_EVENT_ALLOC alloc_pd create_comp_channel memory reg_mr");
	assert_int_equal(mr->start, (memory + 1) << 32);
	assert_int_equal(mr->hca_va, mr->start);
	assert_int_equal(mr->length, 5000);
	assert_int_equal(wv_validate(recipe, &cost, &why), 0);
}

static void assert_refused(struct wv_cmdlog *recipe, const char *reason)
{
	struct wv_cost cost;
	const char *why;

	assert_int_equal(wv_validate(recipe, &cost, &why), -EPERM);
	assert_string_equal(why, reason);
}

/* Of memory that is not the lease's, or for what ends with the process that registers it. */
static void test_what_is_refused(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = recorded(IBV_ACCESS_LOCAL_WRITE);
	struct ib_uverbs_reg_mr *mr =
	    step_input(tape_find(recipe, "reg_mr", 0), UVERBS_ATTR_CORE_IN);
	const struct ib_uverbs_reg_mr good = *mr;

	(void)state;
	mr->length = BYTES + 1;
	assert_refused(recipe, "a registration that is longer than its memory");
	mr->length = 0;
	assert_refused(recipe, "a registration that is longer than its memory");
	*mr = good;
	mr->access_flags = IBV_ACCESS_ON_DEMAND;
	assert_refused(recipe, "memory for an access that is not prepared");
	*mr = good;
	mr->start = mr->hca_va = 0;
	assert_refused(recipe, "a registration of memory that is not the lease's");
	*mr = good;
	mr->hca_va = 0;
	assert_refused(recipe, "a registration under another address than the program's");
	*mr = good;
	mr->start = good.start + 4096;
	assert_refused(recipe, "a reference to something that no earlier step makes");
	mr->start = 1ull << 32; /* a step that is no memory */
	assert_refused(recipe, "a reference to something that no earlier step makes");
}

/* Each registration has the kernel keep a list of all pages. */
static void test_one_registration_for_each_memory(void **state)
{
	struct mlx5_bench *b = bench_mlx5_record();
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	void *at;

	(void)state;
	mlx5_open(&b->program);
	at = b->program.alloc(b, BYTES);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    register_at(&b->program, (uintptr_t)at, BYTES, IBV_ACCESS_LOCAL_WRITE), 0);
	recipe = bench_mlx5_recipe(b);
	assert_refused(recipe, "memory that is registered twice");
	bench_end(b);
}

/* Moves the memory of the lease to where the adapter knows it. False: something else is there. */
static bool place(struct mlx5_bench *b)
{
	uint64_t wanted;
	void *at;

	wv_each_step (b->cmdlog, step)
		wv_step_place(step, -(uint64_t)(uintptr_t)b->memory);
	wanted = wv_lease_place_wanted(b->cmdlog);
	assert_int_equal(wanted % (2 << 20), 0);
	at = mmap((void *)(uintptr_t)wanted, b->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		  b->replay.memory, 0);
	if ((uintptr_t)at != wanted) {
		munmap(at, b->memory_bytes);
		return false;
	}
	munmap(b->memory, b->memory_bytes);
	b->memory = at;
	wv_lease_place(b->preload.lease, b->memory);
	return true;
}

static void test_is_adopted_at_its_place(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = recorded(IBV_ACCESS_REMOTE_READ);
	struct mlx5_bench *b = bench_lease(recipe);
	struct wv_lease *lease = b->preload.lease;
	uint8_t *at;

	(void)state;
	if (!place(b)) {
		wv_each_step (b->cmdlog, step)
			wv_step_place(step, (uintptr_t)b->memory);
		bench_end(b);
		print_message("skipped: 1: a sanitizer has its own memory there\n");
		skip();
	}
	mlx5_open(&b->program);
	assert_null(wv_lease_claim_memory(lease, BYTES)); /* not for a queue */
	assert_null(wv_lease_claim_registered(lease, BYTES, IBV_ACCESS_REMOTE_READ));
	assert_null(wv_lease_claim_registered(lease, 5000, IBV_ACCESS_LOCAL_WRITE));
	at = wv_lease_claim_registered(lease, 5000,
				       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING);
	assert_ptr_equal(at, b->memory + tape_find(b->cmdlog, "memory", 0)->new_number);
	/* Once. */
	assert_null(wv_lease_claim_registered(lease, 5000, IBV_ACCESS_REMOTE_READ));
	assert_int_equal(register_at(&b->program, (uintptr_t)at, 5000, IBV_ACCESS_REMOTE_READ), 0);
	assert_null(strchr(b->preload.trail, 'k'));
	bench_end(b);
}

static void test_is_not_adopted_elsewhere(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = recorded(IBV_ACCESS_REMOTE_READ);
	struct mlx5_bench *b = bench_lease(recipe);

	(void)state;
	wv_lease_kill_registrations(b->preload.lease);
	assert_null(wv_lease_claim_registered(b->preload.lease, 5000, IBV_ACCESS_REMOTE_READ));
	bench_end(b);
}

/* The adapter's, or the administrator's, limit of memory: all else of the lease is of use. */
static int refuse_mr(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	return wv_abi_write_cmd(cmd) == IB_USER_VERBS_CMD_REG_MR ? ENOMEM
								 : fake_kernel_issue(kernel, cmd);
}

static void test_a_registration_that_fails(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = recorded(IBV_ACCESS_LOCAL_WRITE);
	static _Alignas(8) uint8_t memory[WV_CMDLOG_MAX_BYTES];
	struct fake_kernel kernel;
	struct wv_replay replay;
	struct wv_lease lease;

	(void)state;
	fake_kernel_init(&kernel);
	assert_int_equal(wv_replay(recipe, refuse_mr, &kernel, memory, sizeof(memory), &replay), 0);
	assert_int_equal(wv_cmdlog_check(memory, replay.lease->bytes, WV_LEASE), 0);
	wv_lease_init(&lease, replay.lease);
	lease.memory = memory;
	assert_null(wv_lease_claim_registered(&lease, 5000, IBV_ACCESS_LOCAL_WRITE));
	close(replay.memory);
	for (unsigned int i = 0; i < replay.n_fds; i++)
		close(replay.fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_only_known_memory_becomes_a_step),
	    cmocka_unit_test(test_what_is_refused),
	    cmocka_unit_test(test_one_registration_for_each_memory),
	    cmocka_unit_test(test_is_adopted_at_its_place),
	    cmocka_unit_test(test_is_not_adopted_elsewhere),
	    cmocka_unit_test(test_a_registration_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
