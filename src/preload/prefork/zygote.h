/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that forks and keeps sets ready for its children: what it does around a fork, and the
 * thread that makes sets between forks.
 */
#pragma once

#include "preload/prefork/set_pool.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Keeps @n sets of each script ready from now on; 0: none. Makes the sets of all known scripts
 * before it returns. Returns 0 or -errno: -EINVAL if @n is too large, -ENOMEM, -EAGAIN (no thread),
 * or the error of the first verb that failed. Call with no lock held.
 */
int wv_zygote_keep(unsigned int n);

/* What this process shares with its children; created at the first call. NULL: no memory. */
struct wv_prefork_shm *wv_zygote_shm(void);

/* How many sets are ready. */
uint32_t wv_zygote_ready(void);

/* Stops keeping sets, if this process keeps any. Call with no lock held. */
void wv_zygote_release(void);

/*
 * Around fork(2): the first function offers sets to the child and takes the lock of the zygote. The
 * second, in the parent, or the third, in the child, releases it. The child becomes a zygote
 * without sets.
 */
void wv_zygote_before_fork(void);
void wv_zygote_after_fork(void);
void wv_zygote_in_child(void);

/* fork() has returned @pid to this process, or failed. Call with no lock held. */
void wv_zygote_forked(pid_t pid);

/*
 * While the program closes many descriptors at once, or one of a set, or puts a file at a number of
 * its choice, no set is made or ended: that opens and closes numbers that the program may have by
 * then. Returns whether there are sets to pause, and so to resume; the thread is guarded meanwhile
 * (core/guard.h). Does not wait for a set where that could last for ever.
 */
bool wv_zygote_pause(void);
void wv_zygote_resume(void);

/* Whether this process may have sets. */
bool wv_zygote_is_on(void);

/* Whether this thread itself makes or ends a set. */
bool wv_zygote_is_at_work(void);
