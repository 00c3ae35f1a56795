/*
 * Verbs with _ex are inline functions of verbs.h that call through the context: there they are
 * interposed, in contexts of sets and of scripts that are learned.
 */
#pragma once

#include "preload/prefork/set.h"

/* What takes the place of a context's own functions; @ops stays valid. Once per process. */
void wv_context_ops_interpose(const struct wv_context_ops *ops);

/* Puts them into the context of the set, which keeps the context's own. */
void wv_context_ops_take_over(struct wv_set *set);

/* Back to the context's own. */
void wv_context_ops_restore(const struct wv_set *set);
