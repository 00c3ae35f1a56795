/*
 * Verbs with _ex are inline functions of verbs.h that call through the context: there they are
 * interposed, in contexts of sets and of scripts that are learned.
 */
#pragma once

#include "ready/set.h"

/* Puts ours in the place of the context's own functions, which the set keeps. */
void wv_ops_follow(struct wv_set *set);

/* Back to the context's own. */
void wv_ops_leave(const struct wv_set *set);
