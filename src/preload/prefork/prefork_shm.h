/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that a process shares with its children. */
#pragma once

#include "preload/prefork/claim_slot.h"
#include "preload/prefork/published_scripts.h"

struct wv_prefork_shm {
	struct wv_claim_slots slots;
	struct wv_published_scripts scripts;
};

/* Shared with all children forked from now on. It lasts until the process ends. NULL: no memory. */
struct wv_prefork_shm *wv_prefork_shm_new(void);
