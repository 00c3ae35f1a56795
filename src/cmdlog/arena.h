/*
 * The memory that the queues of one lease lie in: a sealed memfd, so that it can be given to one
 * program, which maps it where it likes.
 */
#pragma once

#include "cmdlog/cmdlog.h"

struct wv_arena {
	uint8_t *base; /* NULL: no memory */
	size_t bytes, used;
	int fd;
};

/* Bytes of memory that the lease of @recipe needs, 0 for none; more than there may be, if so. */
uint64_t wv_recipe_memory(struct wv_cmdlog *recipe);

/*
 * Memory of @bytes, zeroed and mapped; no page outside of it is reachable from one in it, so that
 * the kernel refuses a queue that would be longer than its memory. Nothing is made for 0 bytes.
 * 0 or -errno.
 */
int wv_arena_make(struct wv_arena *arena, uint64_t bytes);
/* The next @bytes, whole pages; *@offset is where they begin. 0 or -ENOSPC. */
int wv_arena_take(struct wv_arena *arena, uint64_t bytes, uint32_t *offset);
/* Unmaps it. Returns its descriptor, the caller's, or -1 if there is no memory. */
int wv_arena_finish(struct wv_arena *arena);
