/*
 * Memory for queues, where a provider takes it from the program: from the lease that brings it, or
 * shared with children of fork() (preload/memory/shared_blocks.h); noted while a program is
 * recorded.
 */
#pragma once

#include <infiniband/mlx5dv.h>
#include <stdbool.h>

struct wv_context;

/* What a program gives queues their memory by, instead of us. */
struct wv_allocators {
	bool placed;			   /* the provider asks us, and we ask them */
	struct mlx5dv_ctx_allocators from; /* .alloc is NULL: the program has none */
	void *given;			   /* what came from there: a tree of tsearch(3) */
};

/*
 * Whether the environment chooses the memory of queues (huge or contiguous pages; libmlx5's buf.c).
 * We would override that choice, so such a program is left alone.
 */
bool wv_queues_are_chosen(void);

/*
 * Makes the provider of @verbs ask us for the memory of its queues, if it is one that does that.
 * Where it cannot be done, the context is followed no further. Call with no lock held.
 */
void wv_queues_place(struct ibv_context *verbs, struct wv_context *c);

/*
 * The program of @c brings allocators of its own. What it has from us goes back to us all the same.
 * True if they are taken note of; false: the provider is to have them. Call with no lock held.
 */
bool wv_queues_delegate(struct wv_context *c, const struct mlx5dv_ctx_allocators *from);
