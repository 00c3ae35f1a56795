/*
 * Making a set, and ending one, by the genuine verbs. The caller guards the set; no lock of the
 * control path may be held.
 */
#pragma once

#include "preload/prefork/set.h"

/*
 * An empty set of @script, which must stay, with room for @n verbs. NULL: no memory. wv_set_free()
 * frees the memory only.
 */
struct wv_set *wv_set_new(struct wv_script *script, uint32_t n);
void wv_set_free(struct wv_set *set);

static inline bool wv_set_is_complete(const struct wv_set *set)
{
	return set->n == set->script->n;
}

/*
 * Carries out the next verb of the set's script. @devices: ended by NULL. 0, or -errno of the verb;
 * the set is then to be unmade.
 */
int wv_set_make_next(struct wv_set *set, struct ibv_device **devices);

/* Destroys all that is left of the set, the latest first, and closes its context. */
void wv_set_unmake(struct wv_set *set);

/* The same without a word to the kernel: the objects are another process's. */
void wv_set_abandon(struct wv_set *set);

/*
 * Ends one of which the program has closed a descriptor: verbs would close the number again. What
 * the provider has in memory stays; it is small.
 */
void wv_set_drop(struct wv_set *set);

/* Destroys the object at @index. 0 or the verb's errno. */
int wv_set_destroy(struct wv_set *set, uint16_t index);
