/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that a lease has, and that a recipe is to have. Call with no lock held. */
#pragma once

#include "preload/core/context.h"

/*
 * Whether a lease could have the next @bytes of data that the program asks for, with @access (enum
 * ibv_access_flags). They count from then on.
 */
bool wv_lease_memory_admits(struct wv_context *c, size_t bytes, int access);

/* Memory for a queue, or for data with @access. NULL: the lease of @c has none, or no more. */
void *wv_lease_memory_for_queue(struct wv_context *c, size_t bytes);
void *wv_lease_memory_for_data(struct wv_context *c, size_t bytes, int access);

/*
 * The program has allocated @bytes at @at for a queue, or, zeroed, for data. While @c is recorded,
 * that becomes part of the recipe.
 */
void wv_lease_memory_note(struct wv_context *c, const void *at, size_t bytes);

/* Frees such memory; that of the lease stays mapped until the context ends. */
void wv_lease_memory_free(struct wv_context *c, void *at);
