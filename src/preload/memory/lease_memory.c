/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/lease_memory.h"

#include "base/base.h"
#include "cmdlog/adopt_memory.h"
#include "cmdlog/mr_steps.h"
#include "preload/core/process.h"
#include "preload/core/scope.h"
#include "preload/memory/shared_blocks.h"

/* Of data in all: a recipe that exceeds a user's budget would get no lease at all. */
#define MOST_DATA (32u << 20)

bool wv_lease_memory_admits(struct wv_context *c, size_t bytes, int access)
{
	bool admits;

	wv_lock();
	admits = wv_access_may_be_leased((uint32_t)access) && bytes <= MOST_DATA - c->data;
	if (admits)
		c->data += (uint32_t)wv_whole_pages(bytes);
	wv_unlock();
	return admits;
}

/* The lease that answers the program now, or NULL. Call with the lock held. */
static struct wv_lease *answering(struct wv_context *c)
{
	bool is_asked = !wv_scope.aside && wv_process_is_adopted();

	return is_asked && c->mode == WV_LEASED && wv_context_is_followed(c) ? &c->lease : NULL;
}

void *wv_lease_memory_for_queue(struct wv_context *c, size_t bytes)
{
	struct wv_lease *lease;
	void *at;

	wv_lock();
	lease = answering(c);
	at = lease ? wv_lease_claim_memory(lease, bytes) : NULL;
	wv_unlock();
	return at;
}

void *wv_lease_memory_for_data(struct wv_context *c, size_t bytes, int access)
{
	struct wv_lease *lease;
	void *at;

	wv_lock();
	lease = answering(c);
	at = lease ? wv_lease_claim_registered(lease, bytes, access) : NULL;
	wv_unlock();
	return at;
}

void wv_lease_memory_note(struct wv_context *c, const void *at, size_t bytes)
{
	wv_lock();
	if (c->mode == WV_RECORDING && c->allocations && wv_context_is_followed(c))
		wv_allocations_add(c->allocations, at, bytes);
	wv_unlock();
}

void wv_lease_memory_free(struct wv_context *c, void *at)
{
	const struct wv_lease *lease = &c->lease;
	bool is_leased;

	wv_lock();
	if (c->allocations)
		wv_allocations_remove(c->allocations, at);
	if (!wv_context_is_inherited(c))
		wv_lease_free_memory(&c->lease, at);
	is_leased =
	    lease->memory && (uintptr_t)at - (uintptr_t)lease->memory < lease->cmdlog->memory;
	wv_unlock();
	if (!is_leased)
		wv_block_free(at);
}
