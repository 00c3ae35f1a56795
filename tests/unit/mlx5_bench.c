/* SPDX-License-Identifier: BSD-2-Clause */
#include "mlx5_bench.h"

#include "cmdlog/adopt_memory.h"

#include <sys/mman.h>

#define FIRST_NUMBER_RECORDED 0x11
#define FIRST_NUMBER_LEASED   0x2345

static struct mlx5_bench bench;

static void *keep(struct mlx5_bench *b, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t whole = (bytes + page - 1) & ~(page - 1);
	void *at = NULL;

	assert_true(b->n_own < BENCH_ALLOCATIONS);
	assert_int_equal(posix_memalign(&at, page, whole), 0);
	memset(at, 0, whole);
	return b->own[b->n_own++] = at;
}

static void *alloc_recorded(void *owner, size_t bytes)
{
	struct mlx5_bench *b = owner;
	void *at = bytes ? keep(b, bytes) : NULL;

	if (at && !b->unseen)
		wv_allocations_add(&b->allocations, at, bytes);
	return at;
}

static void *alloc_leased(void *owner, size_t bytes)
{
	struct mlx5_bench *b = owner;
	void *at = bytes ? wv_lease_claim_memory(b->preload.lease, bytes) : NULL;

	if (at)
		b->from_lease++;
	return at || !bytes ? at : keep(b, bytes);
}

static int record_and_issue(void *owner, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct mlx5_bench *b = owner;
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	int error;

	b->unknown += wv_record_command(&b->record, cmd, row, &b->allocations) == WV_UNKNOWN;
	error = fake_kernel_issue(&b->kernel, cmd);
	if (row)
		wv_record_answer(&b->record, cmd, row, error);
	return error;
}

static struct mlx5_bench *begin(void)
{
	memset(&bench, 0, sizeof(bench));
	bench.fds_before = count_fds();
	bench.replay.memory = -1;
	fake_kernel_init(&bench.kernel);
	return &bench;
}

struct mlx5_bench *bench_mlx5_record(void)
{
	struct mlx5_bench *b = begin();

	b->kernel.next_number = FIRST_NUMBER_RECORDED;
	wv_cmdlog_begin(&b->record, b->record_memory, sizeof(b->record_memory), WV_RECORD,
			RDMA_DRIVER_MLX5);
	mlx5_init(&b->program, record_and_issue, b);
	b->program.alloc = alloc_recorded;
	b->program.owner = b;
	return b;
}

struct wv_cmdlog *bench_mlx5_recipe(struct mlx5_bench *b)
{
	assert_int_equal(wv_cmdlog_check(b->record.cmdlog, b->record.cmdlog->bytes, WV_RECORD), 0);
	return recipe_of(b->record.cmdlog);
}

struct wv_cmdlog *mlx5_record(void)
{
	struct mlx5_bench *b = bench_mlx5_record();
	struct wv_cmdlog *record;

	mlx5_run(&b->program);
	record = copy_exactly(b->record.cmdlog, b->record.cmdlog->bytes);
	bench_end(b);
	return record;
}

struct wv_cmdlog *mlx5_recipe(void)
{
	wv_auto_free struct wv_cmdlog *record = mlx5_record();

	return recipe_of(record);
}

static void place(struct mlx5_bench *b)
{
	b->memory_bytes = b->cmdlog->memory;
	if (!b->memory_bytes)
		return;
	b->memory =
	    mmap(NULL, b->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->replay.memory, 0);
	assert_ptr_not_equal(b->memory, MAP_FAILED);
	wv_lease_place(b->preload.lease, b->memory);
}

struct mlx5_bench *bench_lease(struct wv_cmdlog *recipe)
{
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct mlx5_bench *b = begin();

	b->kernel.next_number = FIRST_NUMBER_LEASED;
	assert_int_equal(wv_replay(recipe, fake_kernel_issue, &b->kernel, memory,
				   WV_CMDLOG_MAX_BYTES, &b->replay),
			 0);
	b->cmdlog = copy_exactly(memory, b->replay.lease->bytes);
	assert_int_equal(wv_cmdlog_check(b->cmdlog, b->cmdlog->bytes, WV_LEASE), 0);
	preload_begin(&b->preload, &b->kernel, b->cmdlog, &b->replay);
	place(b);
	b->preload.lease->opening = true;
	mlx5_init(&b->program, preload_issue, &b->preload);
	b->program.base = 0x5599aa000000;
	b->program.alloc = alloc_leased;
	b->program.owner = b;
	return b;
}

static void close_own(struct mlx5_bench *b, int fd)
{
	for (unsigned int i = 0; b->cmdlog && i < b->replay.n_fds; i++)
		if (b->preload.lease->fds[i] == fd)
			return;
	if (fd >= 0)
		assert_int_equal(close(fd), 0);
}

void bench_end(struct mlx5_bench *b)
{
	close_own(b, b->program.async);
	close_own(b, b->program.channel);
	for (unsigned int i = 0; b->cmdlog && i < b->replay.n_fds; i++)
		assert_int_equal(close(b->preload.lease->fds[i]), 0);
	if (b->memory)
		munmap(b->memory, b->memory_bytes);
	if (b->replay.memory >= 0)
		close(b->replay.memory);
	for (unsigned int i = 0; i < b->n_own; i++)
		free(b->own[i]);
	free(b->cmdlog);
	b->cmdlog = NULL;
	assert_int_equal(count_fds(), b->fds_before);
}
