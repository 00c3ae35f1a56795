/*
 * Memory that a process shares with its children: slots, by which sets are offered, and the
 * scripts that children have taught. Children are trusted with it as with the rest of the process
 * that they are copies of, but may end at any moment.
 */
#pragma once

#include "preload/prefork/script.h"

#include <pthread.h>

#define WV_PREFORK_SLOTS   256
#define WV_PREFORK_SCRIPTS 8
#define WV_PREFORK_MISSES  3 /* children in a row that a script did not fit */

enum wv_phase {
	WV_CLAIM_SLOT_FREE,
	WV_CLAIM_SLOT_OFFERED,	  /* to a child that may not have run yet */
	WV_CLAIM_SLOT_HELD,	  /* the child has come, and has not used it */
	WV_CLAIM_SLOT_CLAIMED,	  /* the set is the child's */
	WV_CLAIM_SLOT_GIVEN_BACK, /* the child has let go of it, unused */
	WV_CLAIM_SLOT_LEFT,	  /* the parent has taken it back: free when nobody holds it */
};

/*
 * @state is a generation and a phase: who acts on an old generation changes nothing. @holder is a
 * robust mutex that the child holds while it has the set unused: it tells of its end, by whatever
 * way, exec(2) among them (pthread_mutexattr_setrobust(3)).
 */
struct wv_claim_slot {
	pthread_mutex_t holder;
	uint64_t state;
	int32_t child; /* pid, or 0: not known; the parent's to use */
};

enum wv_publishing { WV_SCRIPT_EMPTY, WV_SCRIPT_WRITING, WV_SCRIPT_THERE };

struct wv_published {
	uint32_t phase;	 /* enum wv_publishing */
	uint32_t misses; /* children in a row that it did not fit */
	struct wv_script script;
};

struct wv_prefork_shm {
	struct wv_claim_slot slots[WV_PREFORK_SLOTS];
	struct wv_published scripts[WV_PREFORK_SCRIPTS];
};

/* Shared with children from now on, until the process ends. NULL: no memory. */
struct wv_prefork_shm *wv_prefork_shm_new(void);

static inline enum wv_phase wv_claim_slot_phase(uint64_t state)
{
	return (enum wv_phase)(state & 0xff);
}

/* A free claim in phase OFFERED, or NULL. *@state: what the child is to be given with it. */
struct wv_claim_slot *wv_claim_slot_issue(struct wv_prefork_shm *shm, uint64_t *state);

/* From @state to another phase of its generation. False: somebody was quicker. */
bool wv_claim_slot_turn(struct wv_claim_slot *claim, uint64_t *state, enum wv_phase phase);

/* The child's side: takes hold of what it was offered. False: it is not offered any more. */
bool wv_claim_slot_hold(struct wv_claim_slot *claim, uint64_t *state);

/* The holder moves on to @phase and lets go. False: it was revoked; let go of all the same. */
bool wv_claim_slot_leave(struct wv_claim_slot *claim, uint64_t *state, enum wv_phase phase);

/* Tickets that nobody holds any more are free again. */
void wv_claim_slots_collect(struct wv_prefork_shm *shm);

/* The parent's side: whether nobody holds it, or whoever did has ended. */
bool wv_claim_slot_is_left(const struct wv_claim_slot *claim);

/* Whether @open, the first verb of a script, is taught already. */
bool wv_prefork_shm_knows(struct wv_prefork_shm *shm, const struct wv_verb *open);

/*
 * Teaches a script; with @instead, in the place of another that begins alike. False: there is one
 * that begins alike, or no room.
 */
bool wv_prefork_shm_publish(struct wv_prefork_shm *shm, const struct wv_script *script,
			    bool instead);

/* Whether there is a script at all. */
bool wv_prefork_shm_is_taught(const struct wv_prefork_shm *shm);

/* A child of the script that begins with @open has found it fitting, or not. */
void wv_prefork_shm_judge(struct wv_prefork_shm *shm, const struct wv_verb *open, bool fits);
