/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many verbs are inline functions of verbs.h that call through the context. They are interposed
 * there: in tracked contexts, and in those that have spares.
 */
#pragma once

#include "preload/prefork/set.h"

/* Sets the functions that replace a context's own. @ops must stay valid. Call once per process. */
void wv_context_ops_interpose(const struct wv_context_ops *ops);

/* Puts these functions into @context, and keeps its own in *@ops. */
void wv_context_ops_take_over(struct ibv_context *context, struct wv_context_ops *ops);

/* Restores the context's own functions. */
void wv_context_ops_restore(struct ibv_context *context, const struct wv_context_ops *ops);

/* The functions that are in @context now. */
void wv_context_ops_read(struct ibv_context *context, struct wv_context_ops *ops);
