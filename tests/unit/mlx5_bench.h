/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of a made-up program on mlx5: recorded in one kernel, carried out in another, and run
 * again on what was made there, through the preload's own control path.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "fake_kernel.h"
#include "mlx5_program.h"
#include "preload.h"

#include <stdbool.h>

#define BENCH_ALLOCATIONS 64

struct mlx5_bench {
	struct fake_kernel kernel;
	struct mlx5_program program;
	unsigned int fds_before;

	/* Recording: */
	struct wv_cmdlog_writer record;
	struct wv_allocations allocations;
	bool unseen; /* what is allocated now, nobody notes */
	int unknown; /* commands that were */
	_Alignas(8) uint8_t record_memory[WV_CMDLOG_MAX_BYTES];

	/* On a lease: */
	struct wv_replay replay;
	struct wv_cmdlog *cmdlog;
	uint8_t *memory;
	size_t memory_bytes;
	struct preload preload;
	unsigned int from_lease; /* allocations that it answered */

	void *own[BENCH_ALLOCATIONS]; /* what the program allocated itself */
	unsigned int n_own;
};

/* A program that is being recorded; end with bench_end(). */
struct mlx5_bench *bench_mlx5_record(void);
/* The recipe of what was recorded so far; the caller frees it. */
struct wv_cmdlog *bench_mlx5_recipe(struct mlx5_bench *b);
void bench_end(struct mlx5_bench *b);

/* The record of mlx5_run(), and its recipe; the caller frees them. */
struct wv_cmdlog *mlx5_record(void);
struct wv_cmdlog *mlx5_recipe(void);

/* A program on a lease of @recipe, in a kernel whose numbers are others; end with bench_end(). */
struct mlx5_bench *bench_lease(struct wv_cmdlog *recipe);
