/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/child.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/guard.h"
#include "preload/core/real.h"
#include "preload/core/trace.h"
#include "preload/lease/device_verbs.h"
#include "preload/lease/open_outcome.h"
#include "preload/prefork/context_ops.h"
#include "preload/prefork/device_list.h"
#include "preload/prefork/set_make.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TRACKED 16
_Static_assert(WV_PUBLISHED_SCRIPTS <= MOST_TRACKED, "room for all sets that are offered");

bool wv_child_tracks WV_HOT;

/*
 * A child writes to all of this, so it lies together: each page that a child writes to is copied.
 */
static struct {
	pthread_mutex_t lock;
	struct wv_prefork_shm *parent_shm; /* NULL: scripts are not taught */
	uint32_t n;
	uint32_t rehearsals; /* under way; contexts opened meanwhile are tracked */
	struct wv_tracked all[MOST_TRACKED];
	uint32_t n_opens; /* of devices, since the fork that made this process */
	struct wv_device_copies lists;
} self WV_HOT = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread bool locked; /* by this thread */
static __thread struct wv_prefork_shm *rehearsing;
static __thread uint32_t rehearsed; /* opens */

void wv_child_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&self.lock);
	locked = true;
}

void wv_child_unlock(void)
{
	__atomic_store_n(&wv_child_tracks,
			 self.n || self.parent_shm || self.rehearsals || self.lists.n,
			 __ATOMIC_RELAXED);
	locked = false;
	pthread_mutex_unlock(&self.lock);
	wv_guard_end();
}

/* Loops over the tracked contexts, the latest first, so that the current one may be removed. */
#define each_tracked(t) for (struct wv_tracked *t = self.all + self.n; t > self.all && t--;)

/* The last one takes its place. */
static void untrack(struct wv_tracked *t)
{
	*t = self.all[--self.n];
}

static void end(struct wv_tracked *t)
{
	wv_context_ops_restore(wv_set_context(t->set), &t->set->ops);
	if (t->role == WV_LEARNING)
		free(t->set->script);
	wv_set_free(t->set);
	untrack(t);
}

struct wv_tracked *wv_tracked_find(const struct ibv_context *context)
{
	each_tracked (t)
		if (t->role != WV_OFFERED && wv_set_context(t->set) == context)
			return t;
	return NULL;
}

void wv_tracked_finish(struct wv_tracked *t)
{
	wv_scripts_publish(t->shm, t->set->script, t->shm != self.parent_shm);
	end(t);
}

struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context)
{
	struct wv_tracked *t = wv_tracked_find(context);

	if (!t || t->role == WV_CLAIMED)
		return t;
	wv_tracked_finish(t);
	return NULL;
}

/*
 * A set that the process has made for itself has no claim slot. But a child that was made without
 * fork handlers (_Fork(3), clone(2)) has a copy, which is not for it.
 */
static bool is_copy(const struct wv_tracked *t)
{
	return !t->claim_slot && t->maker != getpid();
}

static bool hold(struct wv_tracked *t)
{
	if (t->claim_slot)
		return wv_claim_slot_hold(t->claim_slot, &t->state);
	t->maker = getpid();
	return true;
}

static bool release(struct wv_tracked *t, enum wv_claim_phase phase)
{
	return !t->claim_slot || wv_claim_slot_release(t->claim_slot, &t->state, phase);
}

/* Its maker may have closed its own set by system calls of its own. */
static bool is_left(struct wv_tracked *t)
{
	return t->claim_slot || (!is_copy(t) && wv_resources_are_there(&t->set->resources));
}

/*
 * Drops a set that was offered and not used. Its memory is a small copy and is not freed. No thread
 * has looked whether this process put other files at its numbers.
 */
static void drop(const struct wv_tracked *t)
{
	struct wv_left_files files = {.each = true};

	/* A copy has no other memory: by now something else may be there. */
	wv_resources_leave(&t->set->resources, is_copy(t) ? WV_RANGE_IO : WV_RANGE_ALL, &files);
	wv_left_files_close(&files);
}

/* A context that the parent tracked becomes an ordinary opened device in the child. */
static void part_from_parent(void)
{
	each_tracked (t)
		if (t->role == WV_OFFERED)
			drop(t);
		else
			wv_context_ops_restore(wv_set_context(t->set), &t->set->ops);
	self.n = self.rehearsals = self.n_opens = 0;
	rehearsing = NULL;
}

void wv_child_begin(const struct wv_offers *offers, struct wv_prefork_shm *shm)
{
	part_from_parent();
	self.parent_shm = shm;
	for (unsigned int i = 0; i < offers->n; i++) {
		struct wv_tracked t = {
		    .role = WV_OFFERED,
		    .set = offers->all[i].set,
		    .shm = shm,
		    .claim_slot = offers->all[i].claim_slot,
		    .state = offers->all[i].state,
		};

		if (hold(&t))
			self.all[self.n++] = t;
		else
			drop(&t);
	}
}

unsigned int wv_child_offered_fds(int *fds, unsigned int most)
{
	unsigned int n = 0;

	wv_child_lock();
	each_tracked (t)
		if (t->role == WV_OFFERED)
			n += wv_resources_fds(&t->set->resources, fds + n, most - n);
	wv_child_unlock();
	return n;
}

void wv_child_withdraw(void)
{
	wv_child_lock();
	each_tracked (t) {
		if (t->role != WV_OFFERED || t->claim_slot)
			continue;
		wv_set_end(t->set);
		untrack(t);
	}
	self.parent_shm = NULL;
	wv_child_unlock();
}

void wv_child_rehearse(struct wv_prefork_shm *shm)
{
	wv_child_lock();
	rehearsing = shm;
	rehearsed = 0;
	self.rehearsals++;
	wv_child_unlock();
}

void wv_child_end_rehearsal(void)
{
	wv_child_lock();
	each_tracked (t)
		if (t->role == WV_LEARNING && t->rehearsal == &rehearsing)
			wv_tracked_finish(t);
	rehearsing = NULL;
	self.rehearsals--;
	wv_child_unlock();
}

struct ibv_device **wv_child_list(int *n)
{
	struct ibv_device **list = NULL;

	wv_child_lock();
	each_tracked (t)
		if (t->role == WV_OFFERED && !list)
			list = wv_device_list_copy(&self.lists, n);
	wv_child_unlock();
	return list;
}

bool wv_child_end_list(struct ibv_device **list)
{
	bool ended;

	wv_child_lock();
	ended = wv_device_list_end_copy(&self.lists, list);
	wv_child_unlock();
	return ended;
}

/* Claims the set, if it begins with @open and is still offered. Returns its context, or NULL. */
static struct ibv_context *claim(struct wv_tracked *t, const struct wv_verb *open)
{
	struct wv_made *made = wv_set_claim(t->set, &t->claims, open);

	if (!made)
		return NULL;
	if (!is_left(t) || !release(t, WV_CLAIM_SLOT_CLAIMED)) {
		drop(t);
		untrack(t);
		return NULL;
	}
	t->role = WV_CLAIMED;
	wv_resources_give_fds(&t->set->resources);
	return made->object;
}

static struct ibv_context *take(const struct wv_verb *open)
{
	struct ibv_context *context = NULL;

	/* A rehearsal uses no sets: those are for children. */
	if (rehearsing)
		return NULL;
	each_tracked (t)
		if (t->role == WV_OFFERED && !context)
			context = claim(t, open);
	return context;
}

static struct wv_set *empty_set(void)
{
	struct wv_script *script = calloc(1, sizeof(*script));
	struct wv_set *set = script ? wv_set_new(script, WV_SCRIPT_VERBS) : NULL;

	if (!set)
		free(script);
	return set;
}

/* Starts a script at a device that was opened without a set, if the script is worth teaching. */
static void learn(struct ibv_context *context, const struct wv_verb *open)
{
	struct wv_tracked t = {
	    .role = WV_LEARNING,
	    .shm = rehearsing ?: self.parent_shm,
	    .rehearsal = rehearsing ? &rehearsing : NULL,
	};

	if (!t.shm || self.n == MOST_TRACKED || (!rehearsing && wv_scripts_know(t.shm, open)))
		return;
	/* ibv_fork_init() would fail where objects were made before. */
	if (t.shm->is_for_own_sets && wv_real_protects_forks())
		return;
	t.set = empty_set();
	if (!t.set)
		return;
	t.set->script->open_number = wv_context_facts(context->cmd_fd).open_number;
	wv_set_append(t.set, open, context);
	wv_context_ops_take_over(context, &t.set->ops);
	self.all[self.n++] = t;
}

struct ibv_context *wv_child_open(struct ibv_device *device)
{
	uint64_t start = wv_trace_now();
	struct ibv_context *context;
	struct wv_verb open;

	wv_verb_begin(&open, WV_VERB_OPEN);
	memcpy(open.open.device, device->name, strnlen(device->name, IBV_SYSFS_NAME_MAX - 1));
	wv_child_lock();
	open.open.ordinal = rehearsing ? rehearsed++ : self.n_opens++;
	context = take(&open);
	wv_child_unlock();
	if (context) {
		wv_open_outcome_note_preforked();
		wv_trace_preforked(start);
		return context;
	}
	context = wv_open_device(device);
	if (!context)
		return NULL;
	wv_child_lock();
	learn(context, &open);
	wv_child_unlock();
	return context;
}

/* Destroys the unclaimed objects, which would keep the context busy. */
static void end_claimed(struct wv_tracked *t)
{
	uint16_t index;

	while ((index = wv_set_last_unclaimed(t->set, &t->claims, WV_NO_OBJECT)) != WV_NO_OBJECT)
		wv_set_destroy(t->set, index);
	end(t);
}

int wv_child_close(struct ibv_context *context)
{
	struct wv_tracked *t;

	wv_child_lock();
	t = wv_tracked_claimed(context);
	if (t)
		end_claimed(t);
	wv_child_unlock();
	return wv_real_verbs()->close_device(context);
}

void wv_child_stop(struct ibv_context *context)
{
	struct wv_tracked *t;

	wv_child_lock();
	t = wv_tracked_claimed(context);
	if (t)
		t->stopped = true;
	wv_child_unlock();
}

void wv_child_lose_fd(int fd)
{
	if (locked)
		return;
	wv_child_lock();
	each_tracked (t) {
		if (t->role != WV_OFFERED || !wv_resources_lose_fd(&t->set->resources, fd))
			continue;
		drop(t);
		release(t, WV_CLAIM_SLOT_GIVEN_BACK);
		untrack(t);
	}
	wv_child_unlock();
}

void wv_child_end(void)
{
	wv_guard_begin();
	if (pthread_mutex_trylock(&self.lock)) {
		wv_guard_end();
		return;
	}
	locked = true;
	each_tracked (t)
		if (t->role == WV_LEARNING)
			wv_tracked_finish(t);
		else if (t->role == WV_OFFERED && !t->claim_slot && self.n_opens)
			wv_scripts_judge(t->shm, &t->set->script->verbs[0], false);
	wv_child_unlock();
}
