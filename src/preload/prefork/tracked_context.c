/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/tracked_context.h"

#include "base/base.h"
#include "preload/core/guard.h"
#include "preload/prefork/context_ops.h"
#include "preload/prefork/set_make.h"

#include <pthread.h>
#include <stdlib.h>

bool wv_child_tracks WV_HOT;

/*
 * A child writes to all of this, so it lies together: each page that a child writes to is copied.
 */
static struct {
	pthread_mutex_t lock;
	struct wv_published_scripts *parent_scripts; /* NULL: scripts are not taught */
	uint32_t n;
	uint32_t rehearsals; /* under way */
	struct wv_tracked all[WV_CHILD_SETS];
} self WV_HOT = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread bool locked; /* by this thread */

void wv_child_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&self.lock);
	locked = true;
}

void wv_child_unlock(void)
{
	locked = false;
	pthread_mutex_unlock(&self.lock);
	wv_guard_end();
}

int wv_child_try_lock(void)
{
	int error;

	wv_guard_begin();
	error = pthread_mutex_trylock(&self.lock);
	locked = locked || !error;
	if (error)
		wv_guard_end();
	return error;
}

bool wv_child_is_locked(void)
{
	return locked;
}

static void consider(void)
{
	__atomic_store_n(&wv_child_tracks, self.n || self.parent_scripts || self.rehearsals,
			 __ATOMIC_RELAXED);
}

void wv_tracked_set_parent_scripts(struct wv_published_scripts *scripts)
{
	self.parent_scripts = scripts;
	consider();
}

struct wv_published_scripts *wv_tracked_parent_scripts(void)
{
	return self.parent_scripts;
}

void wv_tracked_count_rehearsals(int change)
{
	self.rehearsals += (uint32_t)change;
	consider();
}

bool wv_tracked_has_room(void)
{
	return self.n < WV_CHILD_SETS;
}

bool wv_tracked_add(const struct wv_tracked *tracked)
{
	if (!wv_tracked_has_room())
		return false;
	self.all[self.n++] = *tracked;
	consider();
	return true;
}

void wv_tracked_remove(struct wv_tracked *tracked)
{
	*tracked = self.all[--self.n];
	consider();
}

void wv_tracked_clear(void)
{
	self.n = self.rehearsals = 0;
	consider();
}

struct wv_tracked *wv_tracked_before(struct wv_tracked *t)
{
	if (!t)
		t = self.all + self.n;
	return t > self.all ? t - 1 : NULL;
}

struct wv_tracked *wv_tracked_find(const struct ibv_context *context)
{
	wv_each_tracked(t) if (t->role != WV_OFFERED && wv_set_context(t->set) == context) return t;
	return NULL;
}

void wv_tracked_end(struct wv_tracked *t)
{
	wv_context_ops_restore(wv_set_context(t->set), &t->set->ops);
	if (t->role == WV_LEARNING)
		free(t->set->script);
	wv_set_free(t->set);
	wv_tracked_remove(t);
}

void wv_tracked_finish(struct wv_tracked *t)
{
	wv_scripts_publish(t->scripts, t->set->script, t->scripts != self.parent_scripts);
	wv_tracked_end(t);
}

struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context)
{
	struct wv_tracked *t = wv_tracked_find(context);

	if (!t || t->role == WV_CLAIMED)
		return t;
	wv_tracked_finish(t);
	return NULL;
}
