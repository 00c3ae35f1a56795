#include "preload/mlx5/queues.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/memory/shared_blocks.h"
#include "preload/mlx5/doorbell_records.h"

#include <infiniband/mlx5dv.h>
#include <search.h>
#include <stdlib.h>

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

bool wv_queues_are_chosen(void)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(choices); i++)
		if (getenv(choices[i]))
			return true;
	return false;
}

static void *from_lease(struct wv_context *c, size_t bytes)
{
	void *at = NULL;

	wv_lock();
	if (c->mode == WV_LEASED && wv_context_is_followed(c))
		at = wv_lease_claim_memory(&c->lease, bytes);
	wv_unlock();
	return at;
}

static void note(struct wv_context *c, const void *at, size_t bytes)
{
	wv_lock();
	if (c->mode == WV_RECORDING && wv_context_is_followed(c))
		wv_allocations_add(c->allocations, at, bytes);
	wv_unlock();
}

static int compare(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

/* From the program's own allocator; @at is noted, so that it goes back there. */
static void *from_program(struct wv_context *c, size_t bytes)
{
	void *at = c->own.from.alloc(bytes, c->own.from.data);

	wv_lock();
	if (at)
		tsearch(at, &c->own.given, compare);
	wv_unlock();
	return at;
}

/* Whether @at is the program's, which then has it back. */
static bool to_program(struct wv_context *c, void *at)
{
	bool is_own;

	wv_lock();
	is_own = tdelete(at, &c->own.given, compare);
	wv_unlock();
	if (is_own)
		c->own.from.free(at, c->own.from.data);
	return is_own;
}

/* libmlx5 asks for no alignment, but masks pages (dbrec.c). Nothing is asked for an empty queue. */
static void *alloc_queue(size_t bytes, void *context)
{
	struct wv_context *c = context;
	void *at = NULL;

	if (c->own.from.alloc)
		return from_program(c, bytes);
	if (wv_dbrec_parting())
		return wv_dbrec_memory(bytes);
	if (wv_dbrec_part(c) || !bytes)
		return NULL;
	at = from_lease(c, bytes);
	if (at)
		return at;
	at = wv_shared_block_new(bytes);
	if (at)
		note(c, at, bytes);
	return at;
}

/* Memory of the lease stays mapped until the context ends. */
static void free_queue(void *at, void *context)
{
	struct wv_context *c = context;
	bool leased;

	if (c->own.from.alloc && to_program(c, at))
		return;
	wv_lock();
	leased =
	    c->lease.memory && (uintptr_t)at - (uintptr_t)c->lease.memory < c->lease.cmdlog->memory;
	if (c->allocations)
		wv_allocations_remove(c->allocations, at);
	wv_unlock();
	if (!leased)
		wv_shared_block_free(at);
}

static bool place_mlx5(struct ibv_context *verbs, struct wv_context *c)
{
	int (*set)(struct ibv_context *, enum mlx5dv_set_ctx_attr_type, void *) =
	    real_symbol("libmlx5.so.1", "mlx5dv_set_context_attr", "MLX5_1.2");
	struct mlx5dv_ctx_allocators ours = {.alloc = alloc_queue, .free = free_queue, .data = c};

	c->own.placed = set && !set(verbs, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &ours);
	return c->own.placed;
}

static const struct placer {
	uint32_t driver_id;
	bool (*place)(struct ibv_context *verbs, struct wv_context *c);
} placers[] = {
    {RDMA_DRIVER_MLX5, place_mlx5},
};

static bool place(struct ibv_context *verbs, struct wv_context *c, uint32_t driver_id)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(placers); i++)
		if (placers[i].driver_id == driver_id)
			return placers[i].place(verbs, c);
	return true; /* the kernel keeps the queues */
}

static bool prepare_recording(struct wv_context *c)
{
	if (!c->allocations)
		c->allocations = calloc(1, sizeof(*c->allocations));
	return c->allocations;
}

void wv_queues_place(struct ibv_context *verbs, struct wv_context *c)
{
	c->verbs = verbs;
	if (wv_queues_are_chosen())
		return;
	if (c->mode == WV_RECORDING && !prepare_recording(c))
		c->stopped = true;
	else if (!place(verbs, c, c->driver_id))
		c->stopped = true;
}

bool wv_queues_delegate(struct wv_context *c, const struct mlx5dv_ctx_allocators *from)
{
	if (c->own.placed)
		c->own.from = *from;
	return c->own.placed;
}
