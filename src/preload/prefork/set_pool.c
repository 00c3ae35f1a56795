/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/set_pool.h"

#include "base/backoff.h"
#include "base/base.h"
#include "preload/core/counters.h"
#include "preload/core/fd_table.h"
#include "preload/prefork/device_list.h"
#include "preload/prefork/set_make.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

/* After a verb that failed (base/backoff.h). */
#define PAUSE_MS	 1000
#define LONGEST_PAUSE_MS 64000

/* An offer ends if the child has not used it within this time. */
#define PATIENCE_MS 10000

struct slot {
	struct wv_set *set;		  /* NULL: to be made */
	struct wv_claim_slot *claim_slot; /* NULL: offered to nobody */
	uint64_t state;
	uint64_t since_ms; /* when it was offered */
};

/* One for each published script, at the same index. */
static struct pool {
	bool active;
	unsigned int failures; /* of verbs, in a row */
	uint64_t pause_until_ms;
	struct wv_published_script *published;
	struct wv_script script;
	struct slot slots[WV_SET_POOL_SETS];
} pools[WV_PUBLISHED_SCRIPTS] WV_COLD(1);

/* All slots with a set. */
#define each_set(slot)                                                                             \
	for (struct pool *pool_ = pools; pool_ < pools + WV_PUBLISHED_SCRIPTS; pool_++)            \
		for (struct slot *slot = pool_->slots;                                             \
		     pool_->active && slot < pool_->slots + WV_SET_POOL_SETS; slot++)              \
			if (slot->set)

static void end(struct slot *slot, void (*how)(struct wv_set *set))
{
	struct wv_set *set = slot->set;

	*slot = (struct slot){.set = NULL};
	if (!wv_resources_are_there(&set->resources))
		how = wv_set_drop;
	how(set);
}

static bool is_ready(const struct slot *slot)
{
	return slot->set && !slot->claim_slot && wv_set_is_complete(slot->set) &&
	       !slot->set->resources.lost;
}

static bool can_be_offered(struct slot *slot)
{
	return is_ready(slot) && wv_resources_are_there(&slot->set->resources);
}

static void activate(struct pool *pool, struct wv_published_script *published)
{
	memcpy(&pool->script, &published->script, sizeof(pool->script));
	/* In the child of a zygote, these are still the slots of its parent. */
	memset(pool->slots, 0, sizeof(pool->slots));
	pool->published = published;
	pool->failures = 0;
	pool->pause_until_ms = 0;
	pool->active = wv_script_check(&pool->script);
}

/* Ends the sets beyond @n that are not offered. Returns how many sets are left. */
static unsigned int trim(struct pool *pool, unsigned int n)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < WV_SET_POOL_SETS; i++) {
		struct slot *slot = &pool->slots[i];

		if (slot->set && left >= n && !slot->claim_slot)
			end(slot, wv_set_unmake);
		left += !!slot->set;
	}
	return left;
}

static bool fits(const struct pool *pool)
{
	return __atomic_load_n(&pool->published->misses, __ATOMIC_RELAXED) < WV_SCRIPT_MISSES;
}

static bool is_there(const struct wv_published_script *published)
{
	return __atomic_load_n(&published->phase, __ATOMIC_ACQUIRE) == WV_SCRIPT_THERE;
}

void wv_set_pools_update(struct wv_prefork_shm *shm, unsigned int n)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct pool *pool = &pools[i];
		unsigned int left = 0;

		if (!is_there(&shm->scripts[i]))
			continue;
		if (!pool->active)
			activate(pool, &shm->scripts[i]);
		if (pool->active)
			left = trim(pool, fits(pool) ? n : 0);
		/* Frees the entry: the next child may teach another script. */
		if (!pool->active || (!fits(pool) && !left)) {
			pool->active = false;
			__atomic_store_n(&shm->scripts[i].phase, WV_SCRIPT_EMPTY, __ATOMIC_RELEASE);
		}
	}
}

bool wv_set_pools_have_news(const struct wv_prefork_shm *shm)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++)
		if (!pools[i].active && is_there(&shm->scripts[i]))
			return true;
	return false;
}

/* Whether the child ended before it held its claim slot; false if that is not known. */
static bool never_came(const struct wv_claim_slot *claim_slot)
{
	pid_t child = __atomic_load_n(&claim_slot->child, __ATOMIC_RELAXED);
	siginfo_t info = {.si_pid = 0};
	int result;

	if (!child)
		return false;
	result = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
	return result < 0 ? errno == ECHILD : info.si_pid == child;
}

static bool is_unused(const struct slot *slot)
{
	switch (wv_claim_slot_phase(slot->state)) {
	case WV_CLAIM_SLOT_GIVEN_BACK:
		return true;
	case WV_CLAIM_SLOT_HELD:
		return wv_claim_slot_is_unheld(slot->claim_slot);
	case WV_CLAIM_SLOT_OFFERED:
		return never_came(slot->claim_slot);
	default:
		return false;
	}
}

/* No child has the set any more. False: the child has just claimed it, or given it back. */
static bool retire(struct slot *slot)
{
	if (!wv_claim_slot_advance(slot->claim_slot, &slot->state, WV_CLAIM_SLOT_RETIRED))
		return false;
	slot->claim_slot = NULL;
	return true;
}

/* Takes the set back, if its child left it unused. */
static bool take_back(struct slot *slot)
{
	if (!slot->claim_slot)
		return false;
	slot->state = __atomic_load_n(&slot->claim_slot->state, __ATOMIC_ACQUIRE);
	return is_unused(slot) && retire(slot);
}

/* Looks at what the child did with a set that was offered. True if the set ended. */
static bool settle(struct slot *slot, uint64_t now_ms)
{
	if (take_back(slot))
		return false;
	if (wv_claim_slot_phase(slot->state) == WV_CLAIM_SLOT_CLAIMED) {
		retire(slot);
		end(slot, wv_set_abandon);
		wv_count(&wv_counters.sets_taken);
		return true;
	}
	if (now_ms - slot->since_ms <= PATIENCE_MS || !retire(slot))
		return false;
	end(slot, wv_set_unmake);
	return true;
}

/* Returns whether it ended a set; there may be more. */
static bool settle_one(uint64_t now_ms)
{
	each_set (slot) {
		if (slot->claim_slot && settle(slot, now_ms))
			return true;
		if (!slot->claim_slot && slot->set->resources.lost) {
			end(slot, wv_set_unmake);
			return true;
		}
	}
	return false;
}

/* The slot of an unfinished set, or an empty slot if more sets are needed. */
static struct slot *unfinished(struct pool *pool, unsigned int n)
{
	struct slot *place = NULL;
	unsigned int sets = 0;

	for (unsigned int i = 0; i < WV_SET_POOL_SETS; i++) {
		struct slot *slot = &pool->slots[i];

		if (slot->set && !wv_set_is_complete(slot->set))
			return slot;
		if (!slot->set && !place)
			place = slot;
		sets += !!slot->set;
	}
	return sets < n ? place : NULL;
}

static int make_next(struct pool *pool, struct slot *slot, const struct wv_fd_owner *owner,
		     uint64_t now_ms)
{
	int err;

	if (!slot->set)
		slot->set = wv_set_new(&pool->script, pool->script.n);
	if (!slot->set)
		return -ENOMEM;
	slot->set->resources.owner = owner;
	err = wv_set_make_next(slot->set);
	if (!err && wv_set_is_complete(slot->set)) {
		wv_count(&wv_counters.sets_made);
		pool->failures = 0;
		wv_set_pools_look();
	}
	if (!err)
		return 1;
	end(slot, wv_set_unmake);
	pool->pause_until_ms = now_ms + wv_backoff(PAUSE_MS, LONGEST_PAUSE_MS, ++pool->failures);
	return err;
}

int wv_set_pools_step(unsigned int n, const struct wv_fd_owner *owner, uint64_t now_ms)
{
	bool pauses = false;

	if (settle_one(now_ms))
		return 1;
	if (!wv_device_list())
		return -errno;
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct slot *slot = NULL;

		if (pools[i].active && fits(&pools[i]))
			slot = unfinished(&pools[i], n);
		if (slot && now_ms >= pools[i].pause_until_ms)
			return make_next(&pools[i], slot, owner, now_ms);
		pauses = pauses || slot;
	}
	return pauses ? -EAGAIN : 0;
}

void wv_set_pools_retry(void)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++)
		pools[i].failures = pools[i].pause_until_ms = 0;
}

void wv_set_pools_part_from_devices(void)
{
	each_set (slot)
		slot->set->resources.lost = true;
	/* Earlier verbs may have failed because the device was missing. */
	wv_set_pools_retry();
}

/* A set that is ready, or else one that a child has just left unused. */
static struct slot *next_ready(struct pool *pool)
{
	for (unsigned int i = 0; pool->active && i < WV_SET_POOL_SETS; i++)
		if (can_be_offered(&pool->slots[i]))
			return &pool->slots[i];
	for (unsigned int i = 0; pool->active && i < WV_SET_POOL_SETS; i++)
		if (take_back(&pool->slots[i]) && can_be_offered(&pool->slots[i]))
			return &pool->slots[i];
	return NULL;
}

void wv_set_pools_offer(struct wv_prefork_shm *shm, struct wv_offers *offers, uint64_t now_ms)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct slot *slot = next_ready(&pools[i]);

		if (slot)
			slot->claim_slot = wv_claim_slot_issue(shm, &slot->state);
		if (!slot || !slot->claim_slot)
			continue;
		slot->since_ms = now_ms;
		wv_resources_let_inherit(&slot->set->resources, true);
		offers->all[offers->n++] =
		    (struct wv_offer){slot->set, slot->claim_slot, slot->state};
	}
}

bool wv_set_pools_wait(void)
{
	each_set (slot)
		if (slot->claim_slot)
			return true;
	return false;
}

uint32_t wv_set_pools_ready(void)
{
	uint32_t n = 0;

	each_set (slot)
		n += is_ready(slot);
	return n;
}

void wv_set_pools_lose_fd(int fd)
{
	each_set (slot)
		wv_resources_lose_fd(&slot->set->resources, fd);
}

void wv_set_pools_look(void)
{
	each_set (slot)
		wv_resources_are_there(&slot->set->resources);
}

static bool is_among(const struct wv_set *set, const struct wv_offers *offers)
{
	for (unsigned int i = 0; i < offers->n; i++)
		if (offers->all[i].set == set)
			return true;
	return false;
}

void wv_set_pools_leave(const struct wv_offers *offers)
{
	struct wv_left_files seen = {.n = 0}, unseen = {.each = true};

	/*
	 * When a set becomes complete, all are looked at. One that is not may have numbers next to
	 * files that the program has put at numbers of another: of such a run, both ends are there.
	 */
	each_set (slot)
		if (!is_among(slot->set, offers))
			wv_resources_leave(&slot->set->resources, WV_RANGE_IO,
					   wv_set_is_complete(slot->set) ? &seen : &unseen);
	wv_left_files_close(&seen);
	wv_left_files_close(&unseen);
	/* Nothing is written that need not be: the child copies each page that it writes to. */
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++)
		if (pools[i].active)
			pools[i].active = false;
}
