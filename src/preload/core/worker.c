/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/worker.h"

#include "base/base.h"
#include "base/clock.h"
#include "base/library_thread.h"
#include "preload/core/guard.h"
#include "preload/core/process.h"
#include "preload/core/worker_lock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME	 "warmverbs"
#define BEGIN_MS 1000
#define IDLE_MS	 2000 /* without anything to do, until the thread ends */
#define SOON_US	 1000
#define END_MS	 5000 /* more than a verb of any adapter takes */
#define GONE_US	 50
#define GONE_MS	 1000

#define LEAST_TASKS 4096 /* of a user's, so that one of them makes no difference */

enum mode {
	OFF,  /* there is no thread */
	RUNS, /* and sees a call that comes */
	ENDED /* or does so; it is still to be joined */
};

/* The first is held while workers are waited for. The second guards the modes OFF and ENDED. */
static pthread_mutex_t ends WV_HOT = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t starts WV_HOT = PTHREAD_MUTEX_INITIALIZER;
static struct wv_worker *all; /* that were started at some time */
static bool forbidden, ending;

#define each_worker(w)                                                                             \
	for (struct wv_worker *w = __atomic_load_n(&all, __ATOMIC_ACQUIRE); w; w = w->next)

static void lock(pthread_mutex_t *mutex)
{
	wv_guard_begin();
	pthread_mutex_lock(mutex);
}

static void unlock(pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
	wv_guard_end();
}

static unsigned int mode_of(const struct wv_worker *w)
{
	return __atomic_load_n(&w->mode, __ATOMIC_SEQ_CST);
}

static void set_mode(struct wv_worker *w, unsigned int mode)
{
	__atomic_store_n(&w->mode, mode, __ATOMIC_SEQ_CST);
}

/* Returns whether it was set before. */
static bool set_called(struct wv_worker *w, bool is)
{
	return __atomic_exchange_n(&w->is_called, is, __ATOMIC_SEQ_CST);
}

bool wv_worker_runs(const struct wv_worker *w)
{
	return mode_of(w) == RUNS;
}

bool wv_worker_is_to_end(const struct wv_worker *w)
{
	return __atomic_load_n(&w->is_to_end, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&forbidden, __ATOMIC_RELAXED);
}

static struct timespec in_ms(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* Returns whether the time is up. */
static bool wait_until(sem_t *sem, const struct timespec *until)
{
	while (sem_clockwait(sem, CLOCK_MONOTONIC, until))
		if (errno != EINTR)
			return true;
	return false;
}

/*
 * Sleeps until the time is up, or until somebody posts: to call it (which does not end its sleep if
 * it @keeps_time), or to end it. A post may be of a call that it has seen already.
 */
static bool is_called_in(struct wv_worker *w, int ms, bool keeps_time)
{
	const struct timespec until = in_ms(ms);

	while (!wait_until(&w->woken, &until)) {
		if (wv_worker_is_to_end(w))
			return false;
		if (!keeps_time && set_called(w, false))
			return true;
	}
	return set_called(w, false);
}

/* Who calls sets is_called before it looks at the mode; here the order is the opposite. */
static bool ends_uncalled(struct wv_worker *w)
{
	bool is_called;

	lock(&starts);
	set_mode(w, ENDED);
	is_called = set_called(w, false);
	if (is_called)
		set_mode(w, RUNS);
	unlock(&starts);
	return !is_called;
}

static void *run(void *arg)
{
	struct wv_worker *w = arg;

	w->tid = gettid();
	pthread_setname_np(pthread_self(), NAME);
	sem_post(&w->begun);
	while (!wv_worker_is_to_end(w)) {
		int ms = w->work();
		bool is_idle = ms < 0;

		if (is_called_in(w, is_idle ? IDLE_MS : ms, !is_idle && ms <= w->keeps_ms))
			usleep(SOON_US);
		else if (is_idle && !wv_worker_is_to_end(w) && ends_uncalled(w))
			break;
	}
	sem_post(&w->ended);
	return NULL;
}

/*
 * A thread that pthread_join() has seen end may still be in the kernel's list (release_task()). One
 * that does not end in time waits for a lock that its caller holds, who is in a signal handler: it
 * will end, and be joined later.
 */
static bool join(struct wv_worker *w)
{
	const int patience_ms = w->is_overdue ? 0 : END_MS;
	const struct timespec ends_by = in_ms(patience_ms);
	uint64_t until_ms = wv_clock_ms() + (uint64_t)patience_ms;
	int error;

	set_mode(w, ENDED);
	w->is_overdue = true;
	if (wait_until(&w->ended, &ends_by))
		return false;
	while ((error = pthread_tryjoin_np(w->thread, NULL)) && wv_clock_ms() < until_ms)
		usleep(GONE_US);
	if (error) {
		sem_post(&w->ended); /* for the next one who joins it */
		return false;
	}
	w->is_overdue = false;
	until_ms = wv_clock_ms() + GONE_MS;
	while (!tgkill(getpid(), w->tid, 0) && wv_clock_ms() < until_ms)
		usleep(GONE_US);
	set_mode(w, OFF);
	return true;
}

static void list(struct wv_worker *w)
{
	if (w->is_listed)
		return;
	w->is_listed = true;
	w->next = all;
	__atomic_store_n(&all, w, __ATOMIC_RELEASE);
}

/*
 * The runtime takes locks of its own while it starts a thread, and some allocators do not handle
 * fork() (ASan's), so a child could never take these locks. Hence no fork happens until the thread
 * runs. That wait has a limit, because a library whose fork handler runs after ours may hold such a
 * lock. A thread that cannot be started is not tried again.
 */
static int start(struct wv_worker *w)
{
	const struct timespec begins = in_ms(BEGIN_MS);
	int err;

	sem_init(&w->begun, 0, 0);
	sem_init(&w->woken, 0, 0);
	sem_init(&w->ended, 0, 0);
	__atomic_store_n(&w->is_to_end, false, __ATOMIC_RELAXED);
	set_called(w, false);
	w->is_overdue = false;
	set_mode(w, RUNS);
	err = wv_library_thread(&w->thread, run, w);
	if (err) {
		w->is_refused = true;
		set_mode(w, OFF);
		return err;
	}
	list(w);
	wait_until(&w->begun, &begins);
	return 0;
}

static int start_unless_running(struct wv_worker *w)
{
	int err = 0;

	lock(&starts);
	if (ending || (mode_of(w) == ENDED && !join(w)) || w->is_refused ||
	    __atomic_load_n(&forbidden, __ATOMIC_RELAXED))
		err = -EAGAIN;
	else if (mode_of(w) == OFF)
		err = start(w);
	else
		sem_post(&w->woken); /* it was called while it was started, or about to end */
	unlock(&starts);
	return err;
}

int wv_worker_call(struct wv_worker *w)
{
	bool is_known = set_called(w, true);

	if (!wv_worker_runs(w))
		return start_unless_running(w);
	if (!is_known)
		sem_post(&w->woken);
	return 0;
}

static bool is_below(__rlimit_resource_t resource, rlim_t least)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur < least;
}

/*
 * A further thread may be the last that the program can have. libc sets 128 MiB aside for what it
 * allocates (arenas of malloc()).
 */
static bool is_limited(void)
{
	return is_below(RLIMIT_AS, RLIM_INFINITY) || is_below(RLIMIT_NPROC, LEAST_TASKS);
}

/*
 * glibc's variable stays false in a child of a process with threads, and after all but one have
 * ended. The kernel counts threads as links (proc_task_getattr()).
 */
bool wv_program_has_threads(void)
{
	unsigned int n_own = 0;
	struct stat tasks;

	if (__libc_single_threaded || __atomic_load_n(&forbidden, __ATOMIC_RELAXED))
		return false;
	if (is_limited())
		return false;
	if (stat("/proc/self/task", &tasks))
		return true;
	each_worker(w) n_own += wv_worker_runs(w);
	return tasks.st_nlink > 2 + 1 + n_own;
}

/* May be called in a signal handler. */
static void tell(struct wv_worker *w)
{
	__atomic_store_n(&w->is_to_end, true, __ATOMIC_RELAXED);
	if (mode_of(w) != OFF)
		sem_post(&w->woken);
}

static void set_ending(bool is)
{
	lock(&starts);
	ending = is;
	unlock(&starts);
}

static void end_all(void)
{
	set_ending(true);
	each_worker(w)
	{
		tell(w);
		if (w->interrupt && wv_worker_runs(w))
			w->interrupt();
	}
	each_worker(w) if (mode_of(w) != OFF) join(w);
	set_ending(false);
}

void wv_workers_end(void)
{
	if (!__atomic_load_n(&all, __ATOMIC_ACQUIRE))
		return;
	if (wv_guard_is_on()) {
		each_worker(w) tell(w);
		return;
	}
	lock(&ends);
	end_all();
	unlock(&ends);
}

void wv_workers_forbid(void)
{
	__atomic_store_n(&forbidden, true, __ATOMIC_RELAXED);
}

bool wv_workers_hold(void)
{
	wv_guard_begin();
	if (wv_mutex_lock_in_time(&ends))
		return true;
	wv_guard_end();
	return false;
}

void wv_workers_let_go(void)
{
	unlock(&ends);
}

void wv_worker_starts_hold(void)
{
	lock(&starts);
}

void wv_worker_starts_let_go(void)
{
	unlock(&starts);
}

void wv_worker_starts_forked(void)
{
	each_worker(w) if (w->mode != OFF) w->mode = OFF;
	unlock(&starts);
}
