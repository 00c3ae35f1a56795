/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What leases take up.
 */
#pragma once

#include "cmdlog/validate.h"

struct wv_use {
	uint32_t leases;
	uint32_t fds;
	uint64_t bytes;
};

/* One more lease of @cost. */
static inline void wv_use_add(struct wv_use *use, const struct wv_cost *cost)
{
	use->leases++;
	use->fds += cost->fds;
	use->bytes += cost->bytes;
}

/* One less. */
static inline void wv_use_subtract(struct wv_use *use, const struct wv_cost *cost)
{
	use->leases--;
	use->fds -= cost->fds;
	use->bytes -= cost->bytes;
}
