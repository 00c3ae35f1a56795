/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/fill_thread.h"

#include "base/base.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NODES	 "/dev/infiniband"
#define STACK	 (512 * 1024)
#define SOON_NS	 1000000
#define BLIND_MS 1000 /* when there are no descriptors to wait for */
#define LOOK_MS	 5000 /* checks whether the program has closed them */
#define BEGIN_S	 1

static bool running WV_HOT;
static bool sleeping WV_HOT; /* until wv_fill_thread_wake() */
static int woken WV_HOT = -1, nodes WV_HOT = -1;
static int (*work)(bool devices_changed);
static sem_t begun;

/* The program closed a descriptor that it does not know. */
static void closed(int fd)
{
	if (fd == woken)
		woken = -1;
	if (fd == nodes)
		nodes = -1;
}

static int hidden(int fd)
{
	static const struct wv_fd_owner owner = {.closed = closed};

	if (fd >= 0 && !wv_fd_hide(fd, &owner))
		wv_close_fd(&fd);
	return fd;
}

/* Opens those that were never opened, or that the program has closed. */
static void open_fds(void)
{
	wv_lock();
	if (woken < 0)
		woken = hidden(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	if (nodes < 0) {
		nodes = hidden(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
		if (nodes >= 0)
			inotify_add_watch(nodes, NODES, IN_CREATE | IN_DELETE);
	}
	wv_unlock();
}

static bool drain(int fd)
{
	char events[4096];
	bool any = false;

	while (fd >= 0 && read(fd, events, sizeof(events)) > 0)
		any = true;
	return any;
}

/* Returns whether devices were added or removed. */
static bool sleep_for(int ms)
{
	struct pollfd fds[2];

	open_fds();
	fds[0] = (struct pollfd){.fd = woken, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = nodes, .events = POLLIN};
	if (ms < 0)
		ms = woken < 0 || nodes < 0 ? BLIND_MS : LOOK_MS;
	poll(fds, 2, ms);
	__atomic_store_n(&sleeping, false, __ATOMIC_SEQ_CST);
	drain(woken);
	return drain(nodes);
}

static void *run(void *unused)
{
	bool devices_changed = false;

	(void)unused;
	sem_post(&begun);
	for (;;)
		devices_changed = sleep_for(work(devices_changed));
	return NULL;
}

/*
 * No fork may happen while the runtime starts the thread: the runtime takes locks of its own then,
 * and some allocators do not handle fork() (ASan's), so the child could never take these locks. The
 * wait has a limit, because a library whose fork handler runs after ours may hold such a lock.
 */
static void await_begin(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += BEGIN_S;
	while (sem_clockwait(&begun, CLOCK_MONOTONIC, &until) && errno == EINTR)
		;
}

int wv_fill_thread_start(int (*what)(bool devices_changed))
{
	pthread_attr_t attr;
	sigset_t all, saved;
	pthread_t thread;
	int error;

	if (running)
		return 0;
	work = what;
	open_fds();
	sigfillset(&all);
	sem_init(&begun, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	/* The program's threads handle its signals. */
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	error = pthread_create(&thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	running = !error;
	if (running)
		await_begin();
	return -error;
}

void wv_fill_thread_will_sleep(void)
{
	__atomic_store_n(&sleeping, true, __ATOMIC_SEQ_CST);
}

/* Wakes the thread a little later, so that it does not delay the process that has just forked. */
void wv_fill_thread_wake(void)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = SOON_NS}};

	if (running && __atomic_exchange_n(&sleeping, false, __ATOMIC_SEQ_CST) && woken >= 0)
		timerfd_settime(woken, 0, &soon, NULL);
}

void wv_fill_thread_leave(void)
{
	wv_fd_close_private(&woken);
	wv_fd_close_private(&nodes);
	running = sleeping = false;
}
