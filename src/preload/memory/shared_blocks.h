/*
 * Memory for queues that a child of fork() must see as the adapter does: shared, neither copied nor
 * taken away. Blocks are known by their addresses, because providers give back and protect from
 * fork() what they do not know the origin of.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* At least @bytes, zero, whole pages. NULL if there is no memory. Call with no lock held. */
void *wv_shared_block_new(size_t bytes);

/* Unmaps the block that begins at @at. False if there is none. Call with no lock held. */
bool wv_shared_block_free(void *at);

/* Memory from elsewhere that is such a block until it is forgotten. Call with the lock held. */
void wv_shared_block_note(void *at, size_t bytes);
void wv_shared_block_forget(void *at);

/* Whether @at lies in a block. Call with the lock held. */
bool wv_shared_block_holds(const void *at);
