/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a program's provider allocated for its queues, while the program is recorded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WV_MAX_ALLOCATIONS 512

struct wv_allocation {
	const uint8_t *at;
	size_t bytes;
	uint32_t id; /* from 1 in the order of allocation */
	bool recorded;
};

struct wv_allocations {
	struct wv_allocation all[WV_MAX_ALLOCATIONS];
	unsigned int n;
	uint32_t last_id;
};

/* Remembers an allocation. More than WV_MAX_ALLOCATIONS stay unknown, and so are not recorded. */
void wv_allocations_add(struct wv_allocations *a, const void *at, size_t bytes);
/* The memory at @at was freed. */
void wv_allocations_remove(struct wv_allocations *a, const void *at);
/* The allocation that @address lies in, or NULL. */
struct wv_allocation *wv_allocations_find(struct wv_allocations *a, uint64_t address);
