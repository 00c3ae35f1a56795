/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/child.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/core/trace.h"
#include "preload/lease/device_verbs.h"
#include "preload/lease/open_outcome.h"
#include "preload/prefork/context_ops.h"
#include "preload/prefork/device_list.h"
#include "preload/prefork/set_make.h"

#include <stdlib.h>
#include <string.h>

/* Placed next to the data of tracked_context.c: a child writes to both. */
static uint32_t n_opens WV_HOT; /* of devices, since the fork that made this process */
static struct wv_device_copies lists WV_HOT;

static __thread struct wv_published_scripts *rehearsing;
static __thread uint32_t rehearsed; /* opens */

static void close_fds(struct wv_set *set)
{
	for (unsigned int i = 0; i < set->resources.n_fds; i++)
		wv_fd_close_private(&set->resources.fds[i]);
}

/* Drops a set that was offered and not used. Its memory is a small copy and is not freed. */
static void drop(struct wv_set *set)
{
	close_fds(set);
	wv_resources_unmap(&set->resources, WV_RANGE_ALL);
}

/* A context that the parent tracked becomes an ordinary opened device in the child. */
static void part_from_parent(void)
{
	wv_each_tracked(t)
	{
		if (t->role == WV_OFFERED)
			drop(t->set);
		else
			wv_context_ops_restore(wv_set_context(t->set), &t->set->ops);
	}
	wv_tracked_clear();
	n_opens = 0;
	rehearsing = NULL;
}

void wv_child_begin(const struct wv_offer *offers, unsigned int n,
		    struct wv_published_scripts *scripts)
{
	part_from_parent();
	wv_tracked_set_parent_scripts(scripts);
	for (unsigned int i = 0; i < n; i++) {
		struct wv_tracked t = {
		    .role = WV_OFFERED,
		    .set = offers[i].set,
		    .scripts = scripts,
		    .claim_slot = offers[i].claim_slot,
		    .state = offers[i].state,
		};

		if (!wv_tracked_has_room() || !wv_claim_slot_hold(t.claim_slot, &t.state))
			drop(t.set);
		else
			wv_tracked_add(&t);
	}
}

void wv_child_rehearse(struct wv_published_scripts *scripts)
{
	wv_child_lock();
	rehearsing = scripts;
	rehearsed = 0;
	wv_tracked_count_rehearsals(1);
	wv_child_unlock();
}

struct ibv_device **wv_child_list(int *n)
{
	struct ibv_device **list = NULL;

	wv_child_lock();
	wv_each_tracked(t) if (t->role == WV_OFFERED && !list) list =
	    wv_device_list_copy(&lists, n);
	wv_child_unlock();
	return list;
}

bool wv_child_end_list(struct ibv_device **list)
{
	bool ended;

	wv_child_lock();
	ended = wv_device_list_end_copy(&lists, list);
	wv_child_unlock();
	return ended;
}

/* Claims the set, if it begins with @open and is still offered. Returns its context, or NULL. */
static struct ibv_context *claim(struct wv_tracked *t, const struct wv_verb *open)
{
	struct wv_made *made = wv_set_claim(t->set, &t->claims, open);

	if (!made)
		return NULL;
	if (!wv_claim_slot_release(t->claim_slot, &t->state, WV_CLAIM_SLOT_CLAIMED)) {
		drop(t->set);
		wv_tracked_remove(t);
		return NULL;
	}
	t->role = WV_CLAIMED;
	wv_resources_give_fds(&t->set->resources);
	return made->object;
}

static struct ibv_context *take(const struct wv_verb *open)
{
	/* A rehearsal uses no sets: those are for children. */
	if (rehearsing)
		return NULL;
	wv_each_tracked(t)
	{
		struct ibv_context *context = t->role == WV_OFFERED ? claim(t, open) : NULL;

		if (context)
			return context;
	}
	return NULL;
}

/*
 * The scripts to which an open should be taught. NULL: none, the script is known, or there is no
 * room.
 */
static struct wv_published_scripts *scripts_to_teach(const struct wv_verb *open)
{
	struct wv_published_scripts *scripts =
	    rehearsing ? rehearsing : wv_tracked_parent_scripts();

	if (!scripts || !wv_tracked_has_room() || (!rehearsing && wv_scripts_know(scripts, open)))
		return NULL;
	return scripts;
}

static struct wv_set *empty_set(void)
{
	struct wv_script *script = calloc(1, sizeof(*script));
	struct wv_set *set = script ? wv_set_new(script, WV_SCRIPT_VERBS) : NULL;

	if (!set)
		free(script);
	return set;
}

static void learn(struct ibv_context *context, const struct wv_verb *open,
		  struct wv_published_scripts *scripts)
{
	struct wv_tracked t = {.role = WV_LEARNING, .set = empty_set(), .scripts = scripts};

	if (!t.set)
		return;
	t.set->script->open_number = wv_context_facts(context->cmd_fd).open_number;
	wv_set_append(t.set, open, context);
	wv_context_ops_take_over(context, &t.set->ops);
	wv_tracked_add(&t);
}

/* Starts a script at a device that was opened without a set, if the script is worth teaching. */
static struct ibv_context *opened(struct ibv_context *context, const struct wv_verb *open)
{
	struct wv_published_scripts *scripts;

	if (!context)
		return NULL;
	wv_child_lock();
	scripts = scripts_to_teach(open);
	if (scripts)
		learn(context, open, scripts);
	wv_child_unlock();
	return context;
}

struct ibv_context *wv_child_open(struct ibv_device *device)
{
	uint64_t start = wv_trace_now();
	struct ibv_context *context;
	struct wv_verb open;

	wv_verb_begin(&open, WV_VERB_OPEN);
	memcpy(open.open.device, device->name, strnlen(device->name, IBV_SYSFS_NAME_MAX - 1));
	wv_child_lock();
	open.open.ordinal = rehearsing ? rehearsed++ : n_opens++;
	context = take(&open);
	wv_child_unlock();
	if (!context)
		return opened(wv_open_device(device), &open);
	wv_open_outcome_note_preforked();
	wv_trace_preforked(start);
	return context;
}

void wv_child_end_rehearsal(void)
{
	wv_child_lock();
	wv_each_tracked(t) if (t->role == WV_LEARNING && t->scripts == rehearsing)
	    wv_tracked_finish(t);
	rehearsing = NULL;
	wv_tracked_count_rehearsals(-1);
	wv_child_unlock();
}

void wv_child_end(void)
{
	if (wv_child_try_lock())
		return;
	wv_each_tracked(t) if (t->role == WV_LEARNING) wv_tracked_finish(t);
	wv_child_unlock();
}

/* Destroys the unclaimed objects, which would keep the context busy. */
static void end_claimed(struct wv_tracked *t)
{
	uint16_t index;

	while ((index = wv_set_last_unclaimed(t->set, &t->claims)) != WV_NO_OBJECT)
		wv_set_destroy(t->set, index);
	wv_tracked_end(t);
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
	if (wv_child_is_locked())
		return;
	wv_child_lock();
	wv_each_tracked(t)
	{
		if (t->role != WV_OFFERED || !wv_resources_lose_fd(&t->set->resources, fd))
			continue;
		drop(t->set);
		wv_claim_slot_release(t->claim_slot, &t->state, WV_CLAIM_SLOT_GIVEN_BACK);
		wv_tracked_remove(t);
	}
	wv_child_unlock();
}
