/*
 * Memory for queues, which libmlx5 takes from the program: from the lease that brings it, or shared
 * with children of fork() (memory/shared_blocks.h); noted while a program is recorded.
 */
#pragma once

#include <infiniband/mlx5dv.h>
#include <stdbool.h>

struct wv_context;

/* Huge or contiguous pages (libmlx5's buf.c); as of struct wv_provider. */
bool wv_mlx5_queues_are_chosen(void);

/* As of struct wv_provider. */
bool wv_mlx5_place_queues(struct ibv_context *verbs, struct wv_context *c);

/*
 * The program brings allocators of its own for @c. What libmlx5 has from this library comes back to
 * it all the same. True if they are taken note of; false: the provider is to have them. Call with
 * no lock held.
 */
bool wv_mlx5_delegate_queues(struct wv_context *c, const struct mlx5dv_ctx_allocators *from);
