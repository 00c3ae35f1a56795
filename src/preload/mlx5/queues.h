/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for queues, which libmlx5 takes from this library: from a lease that brings it, or memory
 * that children of fork() share (memory/shared_blocks.h). Allocations are noted while a program is
 * recorded.
 */
#pragma once

#include <infiniband/mlx5dv.h>
#include <stdbool.h>

struct wv_context;

/* Huge or contiguous pages (libmlx5's buf.c). Used in struct wv_provider. */
bool wv_mlx5_queues_are_chosen(void);

/* Used in struct wv_provider. */
bool wv_mlx5_place_queues(struct ibv_context *verbs, struct wv_context *c);

/*
 * The program sets allocators of its own for @c. Memory that libmlx5 has from this library is still
 * given back to this library. True: this library will call them. False: the caller must pass them
 * to the provider. Call with no lock held.
 */
bool wv_mlx5_delegate_queues(struct wv_context *c, const struct mlx5dv_ctx_allocators *from);
