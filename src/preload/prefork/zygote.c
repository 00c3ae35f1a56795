/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/zygote.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/core/fd_table.h"
#include "preload/core/guard.h"
#include "preload/core/process.h"
#include "preload/core/settings.h"
#include "preload/core/worker.h"
#include "preload/core/worker_lock.h"
#include "preload/prefork/device_list.h"
#include "preload/prefork/set_pool.h"

#include <errno.h>
#include <sys/stat.h>

#define NODES	 "/dev/infiniband"
#define SOON_MS	 2 /* while children claim sets */
#define LATER_MS 250
#define LOOK_MS	 1000 /* for removed devices, and for other files at the numbers of sets */

static struct wv_worker_lock lock WV_HOT;
static __thread bool locked; /* by this thread */

static int work(void);

static struct wv_worker filler = {.work = work, .keeps_ms = LATER_MS};
static struct timespec nodes_changed; /* last, when the filler looked */

static struct wv_prefork_shm *shm WV_HOT;     /* shared with the children of this process */
static bool is_set WV_HOT, is_filling WV_HOT; /* whether @wanted is set; whether sets are made */
static unsigned int wanted;
static int wait_ms = SOON_MS;
static uint64_t looked_ms WV_HOT; /* at all sets */

/* The offers of the fork that is in progress, and of the last fork of this thread. */
static struct wv_offers offers WV_HOT;
static __thread struct wv_offers last;

static void take_lock(void)
{
	wv_worker_lock(&lock);
	locked = true;
}

static void take_lock_last(void)
{
	wv_worker_lock_last(&lock);
	locked = true;
}

static void give_lock(void)
{
	locked = false;
	wv_worker_unlock(&lock);
}

static unsigned int how_many(void)
{
	unsigned int n = is_set ? wanted : wv_settings()->prefork;

	return n < WV_SET_POOL_SETS ? n : WV_SET_POOL_SETS;
}

struct wv_prefork_shm *wv_zygote_shm(void)
{
	struct wv_prefork_shm *made;

	take_lock();
	if (!shm)
		__atomic_store_n(&shm, wv_prefork_shm_new(), __ATOMIC_RELAXED);
	made = shm;
	give_lock();
	return made;
}

/*
 * The program closed @fd, which may belong to a set that is ready here, or to one that was offered
 * to this process.
 */
static void lose_fd(int fd)
{
	/* This thread is destroying a set, so the program did not close the descriptor. */
	if (locked)
		return;
	wv_child_lose_fd(fd);
	take_lock();
	wv_set_pools_lose_fd(fd);
	give_lock();
}

static const struct wv_fd_owner set_owner = {.closing = lose_fd};

/* A child does not look at each file of a set, so files of the program must be found before. */
static void look(uint64_t now_ms)
{
	if (now_ms - looked_ms < LOOK_MS)
		return;
	wv_set_pools_look();
	looked_ms = now_ms;
}

static int step(void)
{
	uint64_t now_ms;
	int result;

	take_lock_last();
	now_ms = wv_clock_ms(); /* with the lock, so not before an offer that this waited for */
	look(now_ms);
	result = wv_set_pools_step(how_many(), &set_owner, now_ms);
	if (result == -ENODEV)
		wv_device_list_forget();
	give_lock();
	return result;
}

/* Whether nodes of devices have come or gone since the filler looked; tells @when. */
static bool nodes_differ(struct timespec *when)
{
	struct stat folder;

	*when = stat(NODES, &folder) ? (struct timespec){0} : folder.st_mtim;
	return when->tv_sec != nodes_changed.tv_sec || when->tv_nsec != nodes_changed.tv_nsec;
}

/* Takes account of new scripts, changed devices, and another number of wanted sets. */
static void update(void)
{
	struct timespec when;

	take_lock_last();
	if (nodes_differ(&when)) {
		nodes_changed = when;
		wv_set_pools_part_from_devices();
		wv_device_list_forget();
	}
	wv_set_pools_update(shm, how_many());
	give_lock();
}

/*
 * Polls while offers are open, since a child does not notify the parent when it claims one; and
 * looks for removed devices and other files as long as there are sets.
 */
static int next_time(bool failed)
{
	int ms = -1;

	take_lock_last();
	if (failed) {
		ms = LATER_MS;
	} else if (wv_set_pools_wait() || wv_set_pools_have_news(shm)) {
		ms = wait_ms;
		wait_ms = wait_ms < LATER_MS ? wait_ms + (wait_ms + 3) / 4 : LATER_MS;
	} else if (wv_set_pools_ready()) {
		ms = LOOK_MS;
	}
	give_lock();
	return ms;
}

/* Makes all sets that are missing, until a verb fails, or @worker (may be NULL) is to end. */
static int make_all(const struct wv_worker *worker)
{
	int result = 1;

	update();
	while (!(worker && wv_worker_is_to_end(worker)) && (result = step()) > 0)
		;
	return result;
}

static int work(void)
{
	return next_time(make_all(&filler) < 0);
}

static int fill(void)
{
	is_filling = true;
	return wv_worker_call(&filler);
}

int wv_zygote_keep(unsigned int n)
{
	int err, start_err;

	if (n > WV_SET_POOL_SETS)
		return -EINVAL;
	if (!wv_zygote_shm())
		return -ENOMEM;
	take_lock_last();
	is_set = true;
	wanted = n;
	wv_set_pools_retry();
	give_lock();
	err = make_all(NULL);
	take_lock_last();
	start_err = fill();
	give_lock();
	return start_err ? start_err : err;
}

void wv_zygote_release(void)
{
	bool keeps;

	take_lock_last();
	keeps = shm;
	give_lock();
	if (keeps)
		wv_zygote_keep(0);
}

uint32_t wv_zygote_ready(void)
{
	uint32_t n;

	take_lock_last();
	n = wv_set_pools_ready();
	give_lock();
	return n;
}

void wv_zygote_before_fork(void)
{
	struct timespec unused;
	uint64_t now_ms;

	take_lock();
	now_ms = wv_clock_ms(); /* with the lock, so not before a look that this waited for */
	if (!shm && how_many())
		__atomic_store_n(&shm, wv_prefork_shm_new(), __ATOMIC_RELAXED);
	offers.n = 0;
	look(now_ms); /* if the filler has not come to it */
	/* A child gets no set of a device that may be gone. */
	if (is_filling && how_many() && !nodes_differ(&unused))
		wv_set_pools_offer(shm, &offers, now_ms);
}

/* The filler is of use only after a child has used RDMA. */
static bool is_taught(void)
{
	return shm && how_many() && wv_set_pools_have_news(shm);
}

void wv_zygote_after_fork(void)
{
	for (unsigned int i = 0; i < offers.n; i++)
		wv_resources_let_inherit(&offers.all[i].set->resources, false);
	last = offers;
	wait_ms = SOON_MS;
	if (is_filling || is_taught())
		fill();
	give_lock();
}

/*
 * The claim slot may have been issued again since. If that happens right now, the worst outcome is
 * that a child gets no set.
 */
static void note_child(struct wv_offer *offer, pid_t pid)
{
	uint64_t state = __atomic_load_n(&offer->claim_slot->state, __ATOMIC_ACQUIRE);

	if (pid < 0)
		wv_claim_slot_advance(offer->claim_slot, &offer->state, WV_CLAIM_SLOT_GIVEN_BACK);
	else if (state >> 8 == offer->state >> 8)
		__atomic_store_n(&offer->claim_slot->child, pid, __ATOMIC_RELAXED);
}

void wv_zygote_forked(pid_t pid)
{
	while (last.n)
		note_child(&last.all[--last.n], pid);
}

void wv_zygote_in_child(void)
{
	wv_set_pools_leave(&offers);
	wv_device_list_forked();
	wv_child_begin(&offers, shm && how_many() ? shm : NULL);
	shm = NULL;
	is_set = is_filling = false;
	offers.n = last.n = 0;
	wv_worker_lock_forked(&lock);
	give_lock();
}

bool wv_zygote_is_on(void)
{
	return __atomic_load_n(&shm, __ATOMIC_RELAXED) && wv_process_is_mine();
}

bool wv_zygote_pause(void)
{
	bool waits = !wv_guard_is_on();

	if (!wv_zygote_is_on())
		return false;
	wv_guard_begin();
	wv_worker_lock_pause(&lock);
	if (waits && wv_worker_lock_in_time(&lock))
		wv_worker_unlock(&lock);
	return true;
}

void wv_zygote_resume(void)
{
	wv_worker_lock_resume(&lock);
	wv_guard_end();
}

bool wv_zygote_is_at_work(void)
{
	return locked;
}
