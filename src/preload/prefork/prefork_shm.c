/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/prefork_shm.h"

#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct wv_prefork_shm *wv_prefork_shm_new(void)
{
	void *memory = mmap(NULL, sizeof(struct wv_prefork_shm), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool is_in_use(const struct wv_published_script *p)
{
	return __atomic_load_n(&p->phase, __ATOMIC_ACQUIRE) == WV_SCRIPT_THERE &&
	       __atomic_load_n(&p->misses, __ATOMIC_RELAXED) < WV_SCRIPT_MISSES;
}

static struct wv_published_script *find(struct wv_prefork_shm *shm, const struct wv_verb *open)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct wv_published_script *p = &shm->scripts[i];

		if (is_in_use(p) && (!open || wv_verb_is(&p->script.verbs[0], open)))
			return p;
	}
	return NULL;
}

bool wv_scripts_know(struct wv_prefork_shm *shm, const struct wv_verb *open)
{
	return find(shm, open);
}

/* The bytes of @script that are in use. */
static size_t size_of(const struct wv_script *script)
{
	return offsetof(struct wv_script, verbs) + script->n * sizeof(script->verbs[0]);
}

bool wv_scripts_publish(struct wv_prefork_shm *shm, const struct wv_script *script, bool replace)
{
	struct wv_published_script *known = find(shm, &script->verbs[0]);

	if (known && (!replace || !memcmp(&known->script, script, size_of(script))))
		return false;
	if (known)
		__atomic_store_n(&known->misses, WV_SCRIPT_MISSES, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct wv_published_script *p = &shm->scripts[i];
		uint32_t empty = WV_SCRIPT_EMPTY;

		if (!__atomic_compare_exchange_n(&p->phase, &empty, WV_SCRIPT_WRITING, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		memcpy(&p->script, script, size_of(script));
		p->misses = 0;
		__atomic_store_n(&p->phase, WV_SCRIPT_THERE, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static struct wv_script *copy(const struct wv_script *script)
{
	uint32_t n = __atomic_load_n(&script->n, __ATOMIC_RELAXED);
	struct wv_script *made = n <= WV_SCRIPT_VERBS ? malloc(sizeof(*made)) : NULL;

	if (!made)
		return NULL;
	memcpy(made, script, offsetof(struct wv_script, verbs) + n * sizeof(script->verbs[0]));
	made->n = n;
	if (wv_script_check(made))
		return made;
	free(made);
	return NULL;
}

struct wv_script *wv_scripts_copy(struct wv_prefork_shm *shm, unsigned int i)
{
	struct wv_published_script *p = &shm->scripts[i];
	uint32_t there = WV_SCRIPT_THERE;

	if (is_in_use(p))
		return copy(&p->script);
	__atomic_compare_exchange_n(&p->phase, &there, WV_SCRIPT_EMPTY, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	return NULL;
}

void wv_scripts_judge(struct wv_prefork_shm *shm, const struct wv_verb *open, bool fits)
{
	struct wv_published_script *p = find(shm, open);

	if (!p)
		return;
	if (!fits)
		__atomic_fetch_add(&p->misses, 1, __ATOMIC_RELAXED);
	else if (__atomic_load_n(&p->misses, __ATOMIC_RELAXED))
		__atomic_store_n(&p->misses, 0, __ATOMIC_RELAXED);
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

struct wv_claim_slot *wv_claim_slot_issue(struct wv_prefork_shm *shm, uint64_t *state)
{
	for (unsigned int i = 0; i < WV_CLAIM_SLOTS; i++) {
		struct wv_claim_slot *slot = &shm->slots[i];
		uint64_t now = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (wv_claim_slot_phase(now) != WV_CLAIM_SLOT_RETIRED ||
		    !wv_claim_slot_is_unheld(slot))
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
	uint64_t from = *state, to = (from & ~0xffull) | phase;

	if (!__atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return false;
	*state = to;
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
