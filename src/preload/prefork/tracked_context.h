/*
 * The contexts of this process that are of a set or of a script: offered by its parent, claimed, or
 * taught. Where there is none, and nothing to teach, wv_child_tracks is false, and verbs go
 * straight to libibverbs.
 */
#pragma once

#include "preload/prefork/claim_slot.h"
#include "preload/prefork/published_scripts.h"
#include "preload/prefork/set.h"

#define WV_CHILD_SETS 16

enum wv_role {
	WV_OFFERED,  /* waits for ibv_open_device() */
	WV_CLAIMED,  /* this process uses it */
	WV_LEARNING, /* this process teaches it */
};

struct wv_tracked {
	uint8_t role; /* enum wv_role */
	bool judged;  /* whether its script fits */
	bool stopped; /* CLAIMED: nothing more is taken from it */
	struct wv_set *set;
	struct wv_published_scripts *scripts; /* of the process that taught or is taught */
	struct wv_claim_slot *claim_slot;     /* OFFERED */
	uint64_t state;			      /* of the claim slot */
	struct wv_claims claims;	      /* CLAIMED */
};

extern bool wv_child_tracks;

static inline bool wv_child_is_tracking(void)
{
	return __builtin_expect(__atomic_load_n(&wv_child_tracks, __ATOMIC_RELAXED), 0);
}

/* Guards all of prefork's knowledge of this process as a child; taken before any other lock. */
void wv_child_lock(void);
void wv_child_unlock(void);
/* Whether this thread has it. */
bool wv_child_is_locked(void);
/* Takes the lock if nobody has it; 0, or an errno value. */
int wv_child_try_lock(void);

/* All that follow are called with the lock held. */

/* What is not known is taught to @scripts from now on; NULL: nobody. */
void wv_tracked_set_parent_scripts(struct wv_published_scripts *scripts);
struct wv_published_scripts *wv_tracked_parent_scripts(void);

/* A rehearsal begins (1) or ends (-1): contexts that are opened are looked at. */
void wv_tracked_count_rehearsals(int change);

/* Tracks one more context. False: there are too many. */
bool wv_tracked_add(const struct wv_tracked *tracked);
bool wv_tracked_has_room(void);

/* Tracks it no more; nothing else happens to it. The last one takes its place. */
void wv_tracked_remove(struct wv_tracked *tracked);
/* Tracks nothing any more, and no rehearsal is under way. */
void wv_tracked_clear(void);

/* The tracked context before @t, the last one if that is NULL; NULL: there are no more. */
struct wv_tracked *wv_tracked_before(struct wv_tracked *t);

/* The latest first, so that one may be removed on the way. */
#define wv_each_tracked(t)                                                                         \
	for (struct wv_tracked *t = wv_tracked_before(NULL); t; t = wv_tracked_before(t))

/* The one of @context, or NULL. */
struct wv_tracked *wv_tracked_find(const struct ibv_context *context);

/* Restores the functions of the context, and frees what is known of it. */
void wv_tracked_end(struct wv_tracked *tracked);

/* The script is as long as it will be: it is taught, and its context tracked no more. */
void wv_tracked_finish(struct wv_tracked *tracked);

/* The set of @context that this process claimed, or NULL. A script that is learned there ends. */
struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context);
