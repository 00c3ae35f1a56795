/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory the children that wait have for themselves, and so how many there may be. */
#pragma once

#include "template/supervisor/children.h"

struct wv_child_memory {
	uint64_t bytes; /* that one of them has; 0: nobody has looked yet */
	uint64_t next_ms;
};

/*
 * How many may wait, of @most, where all of them may have @most_bytes: at least one, and no more
 * until one has been looked at. Looks from time to time at the one that has waited for longest.
 */
uint32_t wv_child_memory_most(struct wv_child_memory *m, const struct wv_children *c,
			      uint64_t most_bytes, uint32_t most);
