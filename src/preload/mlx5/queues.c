/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/mlx5/queues.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/memory/lease_memory.h"
#include "preload/memory/shared_blocks.h"
#include "preload/mlx5/doorbell_records.h"

#include <search.h>
#include <stdlib.h>

/* The allocators that a program has set in place of those of this library. */
static struct allocators {
	bool placed;			   /* the provider calls this library, which calls @from */
	struct mlx5dv_ctx_allocators from; /* of the program; .alloc is NULL: none are set */
	void *given;			   /* memory from @from: a tree of tsearch(3) */
} allocators[WV_MAX_CONTEXTS] WV_COLD(1);  /* by the index of the context */

static const char *const choices[] = {
    "MLX_CQ_ALLOC_TYPE",
    "MLX_QP_ALLOC_TYPE",
    "MLX_SRQ_ALLOC_TYPE",
    "MLX_RWQ_ALLOC_TYPE",
    "MLX_MR_ALLOC_TYPE",
    "HUGE_CQ",
    "HUGE_QP",
    "HUGE_SRQ",
    "HUGE_RWQ",
};

/* libmlx5 reads them in every program, also in one that has more rights than its caller. */
bool wv_mlx5_queues_are_chosen(void)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(choices); i++)
		if (getenv(choices[i]))
			return true;
	return false;
}

static struct allocators *of(const struct wv_context *c)
{
	return &allocators[c->index];
}

static int compare(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

/* Allocates from the program's own allocator, and notes @at to free it there. */
static void *from_program(struct allocators *own, size_t bytes)
{
	void *at = own->from.alloc(bytes, own->from.data);

	bool noted;

	wv_lock();
	noted = at && tsearch(at, &own->given, compare);
	wv_unlock();
	if (at && !noted)
		own->from.free(at, own->from.data);
	return noted ? at : NULL;
}

/* Frees @at with the program's allocator, if it is from there. */
static bool to_program(struct allocators *own, void *at)
{
	bool is_own;

	wv_lock();
	is_own = tdelete(at, &own->given, compare);
	wv_unlock();
	if (is_own)
		own->from.free(at, own->from.data);
	return is_own;
}

/* A set that is being made must know of the block, of no use to a child unless it is shared. */
static void *new_block(size_t bytes)
{
	void *at = wv_shared_block_new(bytes);

	if (!wv_scope.maker)
		return at ?: wv_private_block_new(bytes);
	if (at)
		wv_scope.maker->mapped(wv_scope.maker->data, at, wv_whole_pages(bytes), -1);
	return at;
}

/* As libmlx5 allocates it: private, and not cleared. */
static void *new_data(size_t bytes)
{
	void *at;

	return posix_memalign(&at, wv_page_size(), wv_whole_pages(bytes)) ? NULL : at;
}

/*
 * libmlx5 asks for no alignment, but masks addresses to pages (dbrec.c). An empty queue gets no
 * memory.
 */
static void *alloc_queue(size_t bytes, void *context)
{
	struct wv_context *c = context;
	void *at = NULL;

	if (of(c)->from.alloc)
		return from_program(of(c), bytes);
	if (wv_scope.data)
		return new_data(bytes);
	if (wv_dbrec_is_parting())
		return wv_dbrec_memory(bytes);
	if (wv_dbrec_part(c) || !bytes)
		return NULL;
	at = wv_lease_memory_for_queue(c, bytes);
	if (at)
		return at;
	at = new_block(bytes);
	if (at)
		wv_lease_memory_note(c, at, bytes);
	return at;
}

/* Memory of the lease stays mapped until the context ends. */
static void free_queue(void *at, void *context)
{
	struct wv_context *c = context;

	if (of(c)->from.alloc && to_program(of(c), at))
		return;
	if (wv_scope.data) {
		free(at);
		return;
	}
	wv_lease_memory_free(c, at);
}

bool wv_mlx5_place_queues(struct ibv_context *verbs, struct wv_context *c)
{
	int (*set)(struct ibv_context *, enum mlx5dv_set_ctx_attr_type, void *) =
	    wv_real_symbol("libmlx5.so.1", "mlx5dv_set_context_attr", "MLX5_1.2");
	struct mlx5dv_ctx_allocators ours = {.alloc = alloc_queue, .free = free_queue, .data = c};

	*of(c) = (struct allocators){.placed = false};
	wv_dbrec_begin(c);
	if (wv_mlx5_queues_are_chosen())
		return true;
	of(c)->placed = set && !set(verbs, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &ours);
	return of(c)->placed;
}

bool wv_mlx5_delegate_queues(struct wv_context *c, const struct mlx5dv_ctx_allocators *from)
{
	if (of(c)->placed)
		of(c)->from = *from;
	return of(c)->placed;
}
