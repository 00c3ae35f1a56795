/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory that a process shares with its children. A child publishes scripts there, and reports
 * whether they fit; the parent makes sets of them. With each set that it offers to a child, the
 * parent issues a claim slot, through which both agree who has the set. A child is a copy of its
 * parent and is trusted like it, but it may end at any moment.
 */
#pragma once

#include "preload/core/script.h"

#include <pthread.h>

#define WV_CLAIM_SLOTS	     256
#define WV_PUBLISHED_SCRIPTS 8
#define WV_SCRIPT_MISSES     3 /* children in a row that a script did not fit */

enum wv_claim_phase {
	WV_CLAIM_SLOT_RETIRED,	  /* the parent is done with it: free once no child holds it */
	WV_CLAIM_SLOT_OFFERED,	  /* to a child that may not have run yet */
	WV_CLAIM_SLOT_HELD,	  /* the child runs, and has not used the set */
	WV_CLAIM_SLOT_CLAIMED,	  /* the child uses the set */
	WV_CLAIM_SLOT_GIVEN_BACK, /* the child does without the set */
};

/*
 * @state is a generation and a phase: nobody can change the state of a later generation by mistake.
 * @holder is a robust mutex that the child holds while the set is unused. The kernel marks the
 * mutex when the child ends in any way, or calls exec(2) (pthread_mutexattr_setrobust(3)).
 */
struct wv_claim_slot {
	pthread_mutex_t holder;
	uint64_t state;
	int32_t child; /* pid, or 0 if it is not known; only the parent uses it */
};

enum wv_publishing { WV_SCRIPT_EMPTY, WV_SCRIPT_WRITING, WV_SCRIPT_THERE };

struct wv_published_script {
	uint32_t phase;	 /* enum wv_publishing */
	uint32_t misses; /* children in a row that it did not fit */
	struct wv_script script;
};

struct wv_prefork_shm {
	bool is_for_own_sets; /* each process makes them for itself (prefork/own_sets.h) */
	struct wv_claim_slot slots[WV_CLAIM_SLOTS];
	struct wv_published_script scripts[WV_PUBLISHED_SCRIPTS];
};

/* Shared with all children forked from now on. It lasts until the process ends. NULL: no memory. */
struct wv_prefork_shm *wv_prefork_shm_new(void);

/* Whether there is a script that begins with @open (NULL: any script). */
bool wv_scripts_know(struct wv_prefork_shm *shm, const struct wv_verb *open);

/*
 * Publishes @script. If there is already another script that begins with the same open, @script
 * takes its place with @replace, and is ignored without. False: it was ignored, or there is no
 * room.
 */
bool wv_scripts_publish(struct wv_prefork_shm *shm, const struct wv_script *script, bool replace);

/*
 * A copy of script @i, from malloc(), if it is in use and can be carried out. NULL otherwise; one
 * that did not fit makes room for another then. Only where no set is kept for other processes.
 */
struct wv_script *wv_scripts_copy(struct wv_prefork_shm *shm, unsigned int i);

/* A child reports whether the script that begins with @open fits it. */
void wv_scripts_judge(struct wv_prefork_shm *shm, const struct wv_verb *open, bool fits);

static inline enum wv_claim_phase wv_claim_slot_phase(uint64_t state)
{
	return (enum wv_claim_phase)(state & 0xff);
}

/* Moves a free slot to phase OFFERED. NULL: none is free. The child is given *@state with it. */
struct wv_claim_slot *wv_claim_slot_issue(struct wv_prefork_shm *shm, uint64_t *state);

/* Changes @state to another phase of its generation. False: another process changed it first. */
bool wv_claim_slot_advance(struct wv_claim_slot *slot, uint64_t *state, enum wv_claim_phase phase);

/* In the child: holds the slot that it was offered. False: the offer was revoked. */
bool wv_claim_slot_hold(struct wv_claim_slot *slot, uint64_t *state);

/* The child advances to @phase and stops holding the slot. False: the offer was revoked. */
bool wv_claim_slot_release(struct wv_claim_slot *slot, uint64_t *state, enum wv_claim_phase phase);

/* In the parent: whether no running child holds the slot. */
bool wv_claim_slot_is_unheld(const struct wv_claim_slot *slot);
