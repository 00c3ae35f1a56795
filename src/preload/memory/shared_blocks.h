/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for queues. A child of fork() must see it as the adapter does, so it is shared, and
 * neither copied nor withheld. Blocks are found by address, because a provider frees memory and
 * excludes it from fork() without knowing where it is from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* At least @bytes of whole pages, set to zero. NULL: no memory. Call with no lock held. */
void *wv_shared_block_new(size_t bytes);

/*
 * The same, but private, as a provider's own memory is. It is noted in a small table, so there is
 * memory for a queue also where there is none to note a shared block.
 */
void *wv_private_block_new(size_t bytes);

/* Frees the block, shared or private, that begins at @at, if any. Call with no lock held. */
void wv_block_free(void *at);

/* Treats memory from elsewhere as a block, until it is forgotten. Call with the lock held. */
void wv_shared_block_note(void *at, size_t bytes);
void wv_shared_block_forget(void *at);

/* Whether @at lies in a block. Call with the lock held. */
bool wv_shared_block_holds(const void *at);
