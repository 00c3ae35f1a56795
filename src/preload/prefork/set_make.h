/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates and destroys sets with the genuine verbs. The caller guards the set, and must not hold
 * the lock of the control path.
 */
#pragma once

#include "preload/prefork/set.h"

/*
 * An empty set of @script with room for @n verbs. @script must outlive the set. NULL: no memory.
 * wv_set_free() frees the memory only.
 */
struct wv_set *wv_set_new(struct wv_script *script, uint32_t n);
void wv_set_free(struct wv_set *set);

static inline bool wv_set_is_complete(const struct wv_set *set)
{
	return set->n == set->script->n;
}

/*
 * Carries out the next verb of the set's script. Returns 0, or -errno of the verb; the caller must
 * then unmake the set.
 */
int wv_set_make_next(struct wv_set *set);

/* Destroys the objects that are left in the set, the latest first, and closes its context. */
void wv_set_unmake(struct wv_set *set);

/* The same, but the kernel's objects stay: they belong to another process. */
void wv_set_abandon(struct wv_set *set);

/*
 * Ends a set of which the program has closed a descriptor: verbs would close that number again. The
 * memory of the provider is not freed; it is small.
 */
void wv_set_drop(struct wv_set *set);

/* Ends a set that only this process has, whatever became of its descriptors. */
void wv_set_end(struct wv_set *set);

/* Destroys the object at @index. Returns 0 or the errno value of the verb. */
int wv_set_destroy(struct wv_set *set, uint16_t index);
