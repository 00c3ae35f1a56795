/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs with _ex are inline functions of verbs.h that call through the context. They are interposed
 * there, in tracked contexts only.
 */
#pragma once

#include "preload/prefork/set.h"

/* Sets the functions that replace a context's own. @ops must stay valid. Call once per process. */
void wv_context_ops_interpose(const struct wv_context_ops *ops);

/* Puts these functions into the context of the set, and keeps the context's own in the set. */
void wv_context_ops_take_over(struct wv_set *set);

/* Restores the context's own functions. */
void wv_context_ops_restore(const struct wv_set *set);
