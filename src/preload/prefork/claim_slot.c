/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/claim_slot.h"

#include <linux/futex.h>

static bool swap(uint64_t *at, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

static void init_holder(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

struct wv_claim_slot *wv_claim_slot_issue(struct wv_claim_slots *slots, uint64_t *state)
{
	for (unsigned int i = 0; i < WV_CLAIM_SLOTS; i++) {
		struct wv_claim_slot *slot = &slots->all[i];
		uint64_t now = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (wv_claim_slot_phase(now) != WV_CLAIM_SLOT_FREE)
			continue;
		init_holder(&slot->holder);
		__atomic_store_n(&slot->child, 0, __ATOMIC_RELAXED);
		*state = ((now >> 8) + 1) << 8 | WV_CLAIM_SLOT_OFFERED;
		__atomic_store_n(&slot->state, *state, __ATOMIC_RELEASE);
		return slot;
	}
	return NULL;
}

bool wv_claim_slot_advance(struct wv_claim_slot *slot, uint64_t *state, enum wv_claim_phase phase)
{
	uint64_t next = (*state & ~0xffull) | phase;

	if (!swap(&slot->state, *state, next))
		return false;
	*state = next;
	return true;
}

bool wv_claim_slot_hold(struct wv_claim_slot *slot, uint64_t *state)
{
	/* No need to wait: only a child of a later generation can hold the mutex now. */
	if (pthread_mutex_trylock(&slot->holder))
		return false;
	if (wv_claim_slot_advance(slot, state, WV_CLAIM_SLOT_HELD))
		return true;
	pthread_mutex_unlock(&slot->holder);
	return false;
}

bool wv_claim_slot_release(struct wv_claim_slot *slot, uint64_t *state, enum wv_claim_phase phase)
{
	bool turned = wv_claim_slot_advance(slot, state, phase);

	pthread_mutex_unlock(&slot->holder);
	return turned;
}

/*
 * The kernel clears this word when the owner ends (futex(2), get_robust_list(2)). The parent does
 * not lock the mutex: that would follow pointers that any child can write to, and a child may have
 * fewer privileges.
 */
bool wv_claim_slot_is_unheld(const struct wv_claim_slot *slot)
{
	int word = __atomic_load_n(&slot->holder.__data.__lock, __ATOMIC_ACQUIRE);

	return !(word & FUTEX_TID_MASK);
}

void wv_claim_slots_collect(struct wv_claim_slots *slots)
{
	for (unsigned int i = 0; i < WV_CLAIM_SLOTS; i++) {
		struct wv_claim_slot *slot = &slots->all[i];
		uint64_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (wv_claim_slot_phase(state) == WV_CLAIM_SLOT_RETIRED &&
		    wv_claim_slot_is_unheld(slot))
			wv_claim_slot_advance(slot, &state, WV_CLAIM_SLOT_FREE);
	}
}
