#include "preload/prefork/prefork_shm.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

struct wv_prefork_shm *wv_prefork_shm_new(void)
{
	void *memory = mmap(NULL, sizeof(struct wv_prefork_shm), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

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

struct wv_claim_slot *wv_claim_slot_issue(struct wv_prefork_shm *shm, uint64_t *state)
{
	for (unsigned int i = 0; i < WV_PREFORK_SLOTS; i++) {
		struct wv_claim_slot *claim = &shm->slots[i];
		uint64_t now = __atomic_load_n(&claim->state, __ATOMIC_ACQUIRE);

		if (wv_claim_slot_phase(now) != WV_CLAIM_SLOT_FREE)
			continue;
		init_holder(&claim->holder);
		__atomic_store_n(&claim->child, 0, __ATOMIC_RELAXED);
		*state = ((now >> 8) + 1) << 8 | WV_CLAIM_SLOT_OFFERED;
		__atomic_store_n(&claim->state, *state, __ATOMIC_RELEASE);
		return claim;
	}
	return NULL;
}

bool wv_claim_slot_turn(struct wv_claim_slot *claim, uint64_t *state, enum wv_phase phase)
{
	uint64_t next = (*state & ~0xffull) | phase;

	if (!swap(&claim->state, *state, next))
		return false;
	*state = next;
	return true;
}

bool wv_claim_slot_hold(struct wv_claim_slot *claim, uint64_t *state)
{
	/* Never waits: whoever holds it has it from a later generation. */
	if (pthread_mutex_trylock(&claim->holder))
		return false;
	if (wv_claim_slot_turn(claim, state, WV_CLAIM_SLOT_HELD))
		return true;
	pthread_mutex_unlock(&claim->holder);
	return false;
}

bool wv_claim_slot_leave(struct wv_claim_slot *claim, uint64_t *state, enum wv_phase phase)
{
	bool turned = wv_claim_slot_turn(claim, state, phase);

	pthread_mutex_unlock(&claim->holder);
	return turned;
}

/*
 * The word that the kernel clears when the owner ends (futex(2), get_robust_list(2)). To lock it
 * here would follow pointers that any child can write to, and children may have fewer rights.
 */
bool wv_claim_slot_is_left(const struct wv_claim_slot *claim)
{
	int word = __atomic_load_n(&claim->holder.__data.__lock, __ATOMIC_ACQUIRE);

	return !(word & FUTEX_TID_MASK);
}

void wv_claim_slots_collect(struct wv_prefork_shm *shm)
{
	for (unsigned int i = 0; i < WV_PREFORK_SLOTS; i++) {
		struct wv_claim_slot *claim = &shm->slots[i];
		uint64_t state = __atomic_load_n(&claim->state, __ATOMIC_ACQUIRE);

		if (wv_claim_slot_phase(state) == WV_CLAIM_SLOT_LEFT &&
		    wv_claim_slot_is_left(claim))
			wv_claim_slot_turn(claim, &state, WV_CLAIM_SLOT_FREE);
	}
}

static bool is_in_use(const struct wv_published *p)
{
	return __atomic_load_n(&p->phase, __ATOMIC_ACQUIRE) == WV_SCRIPT_THERE &&
	       __atomic_load_n(&p->misses, __ATOMIC_RELAXED) < WV_PREFORK_MISSES;
}

static struct wv_published *find(struct wv_prefork_shm *shm, const struct wv_verb *open)
{
	for (unsigned int i = 0; i < WV_PREFORK_SCRIPTS; i++) {
		struct wv_published *p = &shm->scripts[i];

		if (is_in_use(p) && !memcmp(&p->script.verbs[0], open, sizeof(*open)))
			return p;
	}
	return NULL;
}

bool wv_prefork_shm_knows(struct wv_prefork_shm *shm, const struct wv_verb *open)
{
	return find(shm, open);
}

static bool is_same(const struct wv_script *a, const struct wv_script *b)
{
	return a->n == b->n && a->open_number == b->open_number &&
	       !memcmp(a->verbs, b->verbs, a->n * sizeof(a->verbs[0]));
}

bool wv_prefork_shm_is_taught(const struct wv_prefork_shm *shm)
{
	for (unsigned int i = 0; i < WV_PREFORK_SCRIPTS; i++)
		if (is_in_use(&shm->scripts[i]))
			return true;
	return false;
}

bool wv_prefork_shm_publish(struct wv_prefork_shm *shm, const struct wv_script *script,
			    bool instead)
{
	struct wv_published *known = find(shm, &script->verbs[0]);

	if (known && (!instead || is_same(&known->script, script)))
		return false;
	if (known)
		__atomic_store_n(&known->misses, WV_PREFORK_MISSES, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < WV_PREFORK_SCRIPTS; i++) {
		struct wv_published *p = &shm->scripts[i];
		uint32_t empty = WV_SCRIPT_EMPTY;

		if (!__atomic_compare_exchange_n(&p->phase, &empty, WV_SCRIPT_WRITING, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		memcpy(p->script.verbs, script->verbs, script->n * sizeof(script->verbs[0]));
		p->script.n = script->n;
		p->script.open_number = script->open_number;
		p->misses = 0;
		__atomic_store_n(&p->phase, WV_SCRIPT_THERE, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

void wv_prefork_shm_judge(struct wv_prefork_shm *shm, const struct wv_verb *open, bool fits)
{
	struct wv_published *p = find(shm, open);

	if (!p)
		return;
	if (!fits)
		__atomic_fetch_add(&p->misses, 1, __ATOMIC_RELAXED);
	else if (__atomic_load_n(&p->misses, __ATOMIC_RELAXED))
		__atomic_store_n(&p->misses, 0, __ATOMIC_RELAXED);
}
