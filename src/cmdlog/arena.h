/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of one lease, for queues and for data: a sealed memfd, so that it can be given to one
 * program, which maps it at any address, or at one that few programs use (@place).
 */
#pragma once

#include "cmdlog/cmdlog.h"

struct wv_arena {
	uint8_t *base; /* NULL: no memory */
	size_t bytes, used;
	uint64_t place; /* where a program is to map it whose adapter knows it by address */
	int fd;
};

/* Bytes of memory that a lease of @recipe needs, 0: none. May exceed WV_CMDLOG_MAX_MEMORY. */
uint64_t wv_recipe_memory(struct wv_cmdlog *recipe);

/*
 * Makes and maps @bytes of zeroed memory between two guard pages, so that the kernel refuses a
 * queue that is longer than its memory. Makes nothing for 0 bytes. Returns 0 or -errno.
 */
int wv_arena_make(struct wv_arena *arena, uint64_t bytes);
/* Takes the next @bytes, in whole pages, at *@offset. Returns 0 or -ENOSPC. */
int wv_arena_take(struct wv_arena *arena, uint64_t bytes, uint32_t *offset);
/* Unmaps the memory. Returns its descriptor, now the caller's, or -1 if there is no memory. */
int wv_arena_finish(struct wv_arena *arena);
