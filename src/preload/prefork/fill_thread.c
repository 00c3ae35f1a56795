/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/fill_thread.h"

#include "base/base.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/core/own_thread.h"

#include <poll.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NODES	 "/dev/infiniband"
#define SOON_NS	 1000000
#define BLIND_MS 1000 /* when there are no descriptors to wait for */
#define LOOK_MS	 5000 /* checks whether the program has closed them */

static bool running WV_HOT;
static bool sleeping WV_HOT; /* until wv_fill_thread_wake() */
static int woken WV_HOT = -1, nodes WV_HOT = -1;
static int (*work)(bool devices_changed);

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
	for (;;)
		devices_changed = sleep_for(work(devices_changed));
	return NULL;
}

int wv_fill_thread_start(int (*what)(bool devices_changed))
{
	int err;

	if (running)
		return 0;
	work = what;
	open_fds();
	err = wv_own_thread_start(run);
	running = !err;
	return err;
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
