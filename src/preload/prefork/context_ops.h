/*
 * Verbs with _ex are inline functions of verbs.h that call through the context: there they are
 * interposed, in contexts of sets and of scripts that are learned.
 */
#pragma once

#include "preload/prefork/set.h"

/* Puts ours in the place of the context's own functions, which the set keeps. */
void wv_context_ops_take_over(struct wv_set *set);

/* Back to the context's own. */
void wv_context_ops_restore(const struct wv_set *set);
