/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recipe may ask for, and what it costs. Only the daemon needs this.
 */
#pragma once

#include "abi/abi.h"

/* A number in an input attribute; of size 0: the attribute as a whole. */
struct wv_place {
	uint16_t attr, offset;
	uint8_t size;
};

/* A limit on a number in a WV_CREATE command. */
struct wv_bound_row {
	uint16_t about; /* the object that is created */
	struct wv_place number;
	bool is_flags; /* no bit but these, rather than no number above */
	uint32_t limit;
	const char *why; /* it is refused beyond */
};

/*
 * Kernel memory of a queue that a WV_CREATE command asks for, where the kernel keeps it: a page,
 * and entries of equal size. One entry is always free. An entry has a head of @bytes and then room
 * for @sges structs or for @inline_bytes, whichever is more. The number of entries and their size
 * are rounded up to a power of two. soft-RoCE does so (rxe_queue_init() and its callers,
 * drivers/infiniband/sw/rxe); siw needs less (drivers/infiniband/sw/siw/siw_verbs.c).
 */
struct wv_cost_row {
	uint32_t driver_id;
	uint16_t about;
	uint32_t bytes;
	struct wv_place number, sges, inline_bytes;
};

/* Estimates from above (measured: docs/operations.md). */
#define WV_CONTEXT_BYTES 49152u /* a context, its two files and their uobjects */
#define WV_OBJECT_BYTES	 4096u

#define WV_QUEUE_BYTES	   4096u /* of a queue without its entries */
#define WV_MIN_ENTRY_BYTES 64u
#define WV_SGE_BYTES	   16u

const struct wv_bound_row *wv_abi_bounds(unsigned int *n);
const struct wv_cost_row *wv_abi_costs(unsigned int *n);
