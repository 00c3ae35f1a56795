/* SPDX-License-Identifier: BSD-2-Clause */
/* The modules of all providers. */
#pragma once

#include "preload/core/provider.h"

/* The module of the driver. NULL: its provider needs nothing special. */
const struct wv_provider *wv_provider_find(uint32_t driver_id);

/* Whether environment variables choose the memory of queues, for any provider (core/provider.h). */
bool wv_provider_queues_are_chosen(void);

/* Whether the file at @path should be unreadable for providers while they open a device. */
bool wv_provider_hides_file(const char *path);

/* In a forked child, with the lock of the control path held. */
void wv_provider_forked(void);
