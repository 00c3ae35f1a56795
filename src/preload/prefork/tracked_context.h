/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contexts of this process that belong to a set or a script: offered by the parent, claimed, or
 * learned from. If there are none, and nothing to teach, wv_child_tracks is false, and verbs go
 * straight to libibverbs.
 */
#pragma once

#include "preload/prefork/claim_slot.h"
#include "preload/prefork/published_scripts.h"
#include "preload/prefork/set.h"

#define WV_CHILD_SETS 16

enum wv_role {
	WV_OFFERED,  /* not opened by this process yet */
	WV_CLAIMED,  /* this process uses the context */
	WV_LEARNING, /* this process teaches the script */
};

struct wv_tracked {
	uint8_t role; /* enum wv_role */
	bool judged;  /* whether the script fits was reported */
	bool stopped; /* nothing more is claimed from the set */
	struct wv_set *set;
	struct wv_published_scripts *scripts; /* the script is published there */
	struct wv_claim_slot *claim_slot;     /* OFFERED */
	uint64_t state;			      /* of the claim slot */
	struct wv_claims claims;	      /* CLAIMED */
};

extern bool wv_child_tracks;

static inline bool wv_child_is_tracking(void)
{
	return __builtin_expect(__atomic_load_n(&wv_child_tracks, __ATOMIC_RELAXED), 0);
}

/* Guards what prefork knows of this process as a child. Taken before any other lock. */
void wv_child_lock(void);
void wv_child_unlock(void);
/* Whether this thread holds the lock. */
bool wv_child_is_locked(void);
/* Takes the lock if it is free. Returns 0, or an errno value. */
int wv_child_try_lock(void);

/* Call all functions below with the lock held. */

/* From now on, scripts that @scripts does not have are taught to it; NULL: none are taught. */
void wv_tracked_set_parent_scripts(struct wv_published_scripts *scripts);
struct wv_published_scripts *wv_tracked_parent_scripts(void);

/* A rehearsal begins (@change is 1) or ends (-1); contexts opened meanwhile are tracked. */
void wv_tracked_count_rehearsals(int change);

/* Tracks one more context. False: there is no room. */
bool wv_tracked_add(const struct wv_tracked *tracked);
bool wv_tracked_has_room(void);

/* Stops tracking a context, and does nothing else. The last one takes its place. */
void wv_tracked_remove(struct wv_tracked *tracked);
/* Stops tracking all contexts, and ends all rehearsals. */
void wv_tracked_clear(void);

/* The tracked context before @t, or the last one if @t is NULL. NULL: there are no more. */
struct wv_tracked *wv_tracked_before(struct wv_tracked *t);

/* Loops over the tracked contexts, the latest first, so that the current one may be removed. */
#define wv_each_tracked(t)                                                                         \
	for (struct wv_tracked *t = wv_tracked_before(NULL); t; t = wv_tracked_before(t))

/* The tracked context of @context, or NULL. */
struct wv_tracked *wv_tracked_find(const struct ibv_context *context);

/* Restores the functions of the context, and stops tracking it. */
void wv_tracked_end(struct wv_tracked *tracked);

/* The script is complete: publishes it, and stops tracking the context. */
void wv_tracked_finish(struct wv_tracked *tracked);

/*
 * The tracked context of @context if this process claimed it, or NULL. If a script is being learned
 * there, it is complete now.
 */
struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context);
