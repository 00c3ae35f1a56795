/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/lease_memory.h"

#include "base/base.h"
#include "cmdlog/adopt_memory.h"
#include "cmdlog/mr_steps.h"
#include "preload/core/process.h"
#include "preload/core/scope.h"

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

/* Call with the lock held. */
static bool is_adopted(const struct wv_context *c)
{
	return c->mode == WV_LEASED && wv_context_is_followed(c);
}

static bool is_asked_for(void)
{
	return !wv_scope.aside && wv_process_is_adopted();
}

void *wv_lease_memory_for_queue(struct wv_context *c, size_t bytes)
{
	void *at = NULL;

	if (!is_asked_for())
		return NULL;
	wv_lock();
	if (is_adopted(c))
		at = wv_lease_claim_memory(&c->lease, bytes);
	wv_unlock();
	return at;
}

void *wv_lease_memory_for_data(struct wv_context *c, size_t bytes, int access)
{
	void *at = NULL;

	if (!is_asked_for())
		return NULL;
	wv_lock();
	if (is_adopted(c))
		at = wv_lease_claim_registered(&c->lease, bytes, access);
	wv_unlock();
	return at;
}

bool wv_lease_memory_holds(struct wv_context *c, const void *at)
{
	bool holds;

	wv_lock();
	holds =
	    c->lease.memory && (uintptr_t)at - (uintptr_t)c->lease.memory < c->lease.cmdlog->memory;
	wv_unlock();
	return holds;
}

void wv_lease_memory_note(struct wv_context *c, const void *at, size_t bytes)
{
	wv_lock();
	if (c->mode == WV_RECORDING && c->allocations && wv_context_is_followed(c))
		wv_allocations_add(c->allocations, at, bytes);
	wv_unlock();
}

void wv_lease_memory_freed(struct wv_context *c, const void *at)
{
	wv_lock();
	if (c->allocations)
		wv_allocations_remove(c->allocations, at);
	if (!wv_context_is_inherited(c))
		wv_lease_free_memory(&c->lease, at);
	wv_unlock();
}
