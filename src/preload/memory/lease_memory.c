/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/lease_memory.h"

#include "base/base.h"
#include "cmdlog/adopt_memory.h"
#include "preload/core/process.h"
#include "preload/core/scope.h"

/* Of data in all: a recipe that exceeds a user's budget would get no lease at all. */
#define MOST_DATA (32u << 20)

typedef void *(*claim_fn)(struct wv_lease *lease, size_t bytes);

static void *take(struct wv_context *c, size_t bytes, claim_fn claim)
{
	void *at = NULL;

	if (wv_scope.aside || !wv_process_is_adopted())
		return NULL;
	wv_lock();
	if (c->mode == WV_LEASED && wv_context_is_followed(c))
		at = claim(&c->lease, bytes);
	wv_unlock();
	return at;
}

void *wv_lease_memory_for_queue(struct wv_context *c, size_t bytes)
{
	return take(c, bytes, wv_lease_claim_memory);
}

void *wv_lease_memory_for_data(struct wv_context *c, size_t bytes)
{
	return take(c, bytes, wv_lease_claim_registered);
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

static bool is_recorded(const struct wv_context *c)
{
	return c->mode == WV_RECORDING && c->allocations && wv_context_is_followed(c);
}

void wv_lease_memory_note_queue(struct wv_context *c, const void *at, size_t bytes)
{
	wv_lock();
	if (is_recorded(c))
		wv_allocations_add(c->allocations, at, bytes);
	wv_unlock();
}

void wv_lease_memory_note_data(struct wv_context *c, const void *at, size_t bytes)
{
	wv_lock();
	if (is_recorded(c) && bytes <= MOST_DATA - c->allocations->data) {
		wv_allocations_add(c->allocations, at, bytes);
		c->allocations->data += (uint32_t)bytes;
	}
	wv_unlock();
}

void wv_lease_memory_freed(struct wv_context *c, const void *at)
{
	wv_lock();
	if (c->allocations)
		wv_allocations_remove(c->allocations, at);
	wv_unlock();
}
