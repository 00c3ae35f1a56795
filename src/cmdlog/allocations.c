/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/allocations.h"

void wv_allocations_add(struct wv_allocations *a, const void *at, size_t bytes)
{
	if (a->n == WV_MAX_ALLOCATIONS)
		return;
	a->all[a->n++] = (struct wv_allocation){.at = at, .bytes = bytes, .id = ++a->last_id};
}

void wv_allocations_remove(struct wv_allocations *a, const void *at)
{
	for (unsigned int i = 0; i < a->n; i++) {
		if (a->all[i].at != at)
			continue;
		a->all[i] = a->all[--a->n];
		return;
	}
}

struct wv_allocation *wv_allocations_find(struct wv_allocations *a, uint64_t address)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (address - (uintptr_t)a->all[i].at < a->all[i].bytes)
			return &a->all[i];
	return NULL;
}
