#include "preload/prefork/child.h"

#include "base/base.h"
#include "preload/client/open_outcome.h"
#include "preload/core/context.h"
#include "preload/core/fd_table.h"
#include "preload/core/real.h"
#include "preload/core/real_verbs.h"
#include "preload/core/trace.h"
#include "preload/interpose/verbs_device.h"
#include "preload/prefork/context_ops.h"
#include "preload/prefork/device_list.h"
#include "preload/prefork/set_make.h"
#include "preload/prefork/tracked.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool wv_child_follows;

/* All that a child writes to on its way, near together: each page of it is copied for it first. */
static struct {
	pthread_mutex_t lock;
	struct wv_prefork_shm *home; /* of its parent */
	uint32_t opens;		     /* of devices, since its birth */
	uint32_t n;
	uint32_t rehearsals; /* under way */
	struct wv_device_copies lists;
	struct wv_tracked followed[WV_CHILD_SETS];
} self WV_HOT = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread bool locked; /* by this thread */
static __thread struct wv_prefork_shm *rehearsing;
static __thread uint32_t rehearsed; /* opens */

/* The latest first, so that one may end on the way. */
#define each_followed(f) for (struct wv_tracked *f = self.followed + self.n; f-- > self.followed;)

void wv_child_lock(void)
{
	pthread_mutex_lock(&self.lock);
	locked = true;
}

void wv_child_unlock(void)
{
	locked = false;
	pthread_mutex_unlock(&self.lock);
}

static void consider(void)
{
	__atomic_store_n(&wv_child_follows, self.n || self.home || self.rehearsals,
			 __ATOMIC_RELAXED);
}

static void forget(struct wv_tracked *f)
{
	*f = self.followed[--self.n];
	consider();
}

struct wv_tracked *wv_tracked_find(const struct ibv_context *context)
{
	each_followed (f)
		if (f->role != WV_OFFERED && wv_set_context(f->set) == context)
			return f;
	return NULL;
}

static void close_fds(struct wv_set *set)
{
	for (unsigned int i = 0; i < set->holding.n_fds; i++) {
		int fd = set->holding.fds[i];

		set->holding.fds[i] = -1;
		if (fd < 0)
			continue;
		wv_fd_untrack(fd);
		real_close(fd);
	}
}

/* Lets go of a set that was offered and not used. Its memory is a copy, and small: it stays. */
static void drop(struct wv_set *set)
{
	close_fds(set);
	wv_resources_unmap(&set->holding, WV_RANGE_ALL);
}

/* What a parent had, its child has as it is: an opened device like any other. */
static void part_from_parent(void)
{
	each_followed (f) {
		if (f->role == WV_OFFERED)
			drop(f->set);
		else
			wv_context_ops_restore(f->set);
	}
	self.n = self.opens = self.rehearsals = 0;
	rehearsing = NULL;
}

void wv_child_begin(const struct wv_offer *offers, unsigned int n, struct wv_prefork_shm *home)
{
	part_from_parent();
	self.home = home;
	for (unsigned int i = 0; i < n; i++) {
		struct wv_tracked f = {
		    .role = WV_OFFERED,
		    .set = offers[i].set,
		    .home = home,
		    .ticket = offers[i].ticket,
		    .state = offers[i].state,
		};

		if (self.n < WV_CHILD_SETS && wv_claim_slot_hold(f.ticket, &f.state))
			self.followed[self.n++] = f;
		else
			drop(f.set);
	}
	consider();
}

void wv_child_rehearse(struct wv_prefork_shm *home)
{
	wv_child_lock();
	rehearsing = home;
	rehearsed = 0;
	self.rehearsals++;
	consider();
	wv_child_unlock();
}

struct ibv_device **wv_child_list(int *n)
{
	struct ibv_device **list = NULL;

	wv_child_lock();
	each_followed (f)
		if (f->role == WV_OFFERED && !list)
			list = wv_devices_copy(&self.lists, n);
	wv_child_unlock();
	return list;
}

bool wv_child_end_list(struct ibv_device **list)
{
	bool ended;

	wv_child_lock();
	ended = wv_devices_end_copy(&self.lists, list);
	wv_child_unlock();
	return ended;
}

/* The set's context, if it begins with @open and is still to be had. */
static struct ibv_context *claim(struct wv_tracked *f, const struct wv_verb *open)
{
	struct wv_made *made = wv_set_claim(f->set, &f->claims, open);

	if (!made)
		return NULL;
	if (!wv_claim_slot_leave(f->ticket, &f->state, WV_CLAIM_SLOT_CLAIMED)) {
		drop(f->set);
		forget(f);
		return NULL;
	}
	f->role = WV_CLAIMED;
	wv_resources_give_fds(&f->set->holding);
	return made->object;
}

static struct ibv_context *take(const struct wv_verb *open)
{
	/* What is rehearsed is for others. */
	if (rehearsing)
		return NULL;
	each_followed (f) {
		struct ibv_context *context = f->role == WV_OFFERED ? claim(f, open) : NULL;

		if (context)
			return context;
	}
	return NULL;
}

/* Whom to teach what is opened now; NULL: nobody, it is known, or there is no room. */
static struct wv_prefork_shm *pupil(const struct wv_verb *open)
{
	struct wv_prefork_shm *family = rehearsing ? rehearsing : self.home;

	if (!family || self.n == WV_CHILD_SETS ||
	    (!rehearsing && wv_prefork_shm_knows(family, open)))
		return NULL;
	return family;
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
		  struct wv_prefork_shm *home)
{
	struct wv_set *set = empty_set();

	if (!set)
		return;
	set->script->open_number = wv_context_open_number(context->cmd_fd);
	wv_set_append(set, open, context);
	wv_context_ops_take_over(set);
	self.followed[self.n++] = (struct wv_tracked){
	    .role = WV_LEARNING,
	    .set = set,
	    .home = home,
	};
	consider();
}

/* What was opened plainly, as @open, is perhaps worth teaching. */
static struct ibv_context *opened(struct ibv_context *context, const struct wv_verb *open)
{
	struct wv_prefork_shm *home;

	if (!context)
		return NULL;
	wv_child_lock();
	home = pupil(open);
	if (home)
		learn(context, open, home);
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
	open.open.ordinal = rehearsing ? rehearsed++ : self.opens++;
	context = take(&open);
	wv_child_unlock();
	if (!context)
		return opened(wv_open_plainly(device), &open);
	wv_open_outcome_note_preforked();
	wv_trace_preforked(start);
	return context;
}

static void end(struct wv_tracked *f)
{
	wv_context_ops_restore(f->set);
	if (f->role == WV_LEARNING)
		free(f->set->script);
	wv_set_free(f->set);
	forget(f);
}

void wv_tracked_finish(struct wv_tracked *f)
{
	wv_prefork_shm_publish(f->home, f->set->script, f->home != self.home);
	end(f);
}

struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context)
{
	struct wv_tracked *f = wv_tracked_find(context);

	if (!f || f->role == WV_CLAIMED)
		return f;
	wv_tracked_finish(f);
	return NULL;
}

void wv_child_end_rehearsal(void)
{
	wv_child_lock();
	each_followed (f)
		if (f->role == WV_LEARNING && f->home == rehearsing)
			wv_tracked_finish(f);
	rehearsing = NULL;
	self.rehearsals--;
	consider();
	wv_child_unlock();
}

void wv_child_end(void)
{
	if (pthread_mutex_trylock(&self.lock))
		return;
	each_followed (f)
		if (f->role == WV_LEARNING)
			wv_tracked_finish(f);
	pthread_mutex_unlock(&self.lock);
}

/* What nobody took of the set would keep its context busy. */
static void end_claimed(struct wv_tracked *f)
{
	uint16_t index;

	while ((index = wv_set_last_unclaimed(f->set, &f->claims)) != WV_NO_OBJECT)
		wv_set_destroy(f->set, index);
	end(f);
}

int wv_child_close(struct ibv_context *context)
{
	struct wv_tracked *f;

	wv_child_lock();
	f = wv_tracked_claimed(context);
	if (f)
		end_claimed(f);
	wv_child_unlock();
	return wv_real_verbs()->close_device(context);
}

void wv_child_stop(struct ibv_context *context)
{
	struct wv_tracked *f;

	wv_child_lock();
	f = wv_tracked_claimed(context);
	if (f)
		f->stopped = true;
	wv_child_unlock();
}

bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops)
{
	struct wv_tracked *f;

	wv_child_lock();
	f = wv_tracked_find(context);
	if (f)
		*ops = f->set->ops;
	wv_child_unlock();
	return f;
}

void wv_child_lose_fd(int fd)
{
	if (locked)
		return;
	wv_child_lock();
	each_followed (f) {
		if (f->role != WV_OFFERED || !wv_resources_lose_fd(&f->set->holding, fd))
			continue;
		drop(f->set);
		wv_claim_slot_leave(f->ticket, &f->state, WV_CLAIM_SLOT_GIVEN_BACK);
		forget(f);
	}
	wv_child_unlock();
}
