/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Claim slots, in memory that a process shares with its children: with each set that it offers to a
 * child, a process issues a slot, through which parent and child agree who has the set. A child is
 * a copy of its parent and is trusted like it, but it may end at any moment.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define WV_CLAIM_SLOTS 256

enum wv_claim_phase {
	WV_CLAIM_SLOT_FREE,
	WV_CLAIM_SLOT_OFFERED,	  /* to a child that may not have run yet */
	WV_CLAIM_SLOT_HELD,	  /* the child runs, and has not used the set */
	WV_CLAIM_SLOT_CLAIMED,	  /* the child uses the set */
	WV_CLAIM_SLOT_GIVEN_BACK, /* the child does without the set */
	WV_CLAIM_SLOT_RETIRED,	  /* the parent is done with it: free once no child holds it */
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

struct wv_claim_slots {
	struct wv_claim_slot all[WV_CLAIM_SLOTS];
};

static inline enum wv_claim_phase wv_claim_slot_phase(uint64_t state)
{
	return (enum wv_claim_phase)(state & 0xff);
}

/* Moves a free slot to phase OFFERED. NULL: none is free. The child is given *@state with it. */
struct wv_claim_slot *wv_claim_slot_issue(struct wv_claim_slots *slots, uint64_t *state);

/* Changes @state to another phase of its generation. False: another process changed it first. */
bool wv_claim_slot_advance(struct wv_claim_slot *slot, uint64_t *state, enum wv_claim_phase phase);

/* In the child: holds the slot that it was offered. False: the offer was revoked. */
bool wv_claim_slot_hold(struct wv_claim_slot *slot, uint64_t *state);

/* The child advances to @phase and stops holding the slot. False: the offer was revoked. */
bool wv_claim_slot_release(struct wv_claim_slot *slot, uint64_t *state, enum wv_claim_phase phase);

/* Frees the retired slots that no child holds. */
void wv_claim_slots_collect(struct wv_claim_slots *slots);

/* In the parent: whether no running child holds the slot. */
bool wv_claim_slot_is_unheld(const struct wv_claim_slot *slot);
