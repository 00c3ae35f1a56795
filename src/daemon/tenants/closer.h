/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes what came from clients: their descriptors, and connections to them, in which messages with
 * further descriptors may wait.
 *
 * Closing the last descriptor of a file runs the file's own code in the kernel. A TCP socket may
 * linger, a file system in user space may never answer, and a uverbs file destroys its objects. So
 * the loop never closes what it did not open: workers do, at most one for each tenant, and whoever
 * keeps such a worker waits for it alone.
 */
#pragma once

#include "daemon/loop/workers.h"
#include "daemon/tenants/tenant.h"

#include <pthread.h>

/* Most workers. So many tenants at once can keep the daemon from closing anything. */
#define WV_CLOSERS 64

struct wv_closing; /* what is to be closed for one tenant */

struct wv_closer {
	/* Set by the owner before wv_closer_start(). */
	unsigned int max_fds; /* how many may wait before some of their tenants are full */

	struct wv_line *line;
	pthread_mutex_t lock;
	/* Guarded by the lock: */
	TAILQ_HEAD(, wv_closing) all;
	struct wv_closing *common; /* of tenants for which memory was short */
	int *next;		   /* for each descriptor that waits: the one after it, or -1 */
	unsigned int n;		   /* descriptors that wait or are being closed */
};

/* @c must be zeroed but for what the owner sets. 0 or -errno. */
int wv_closer_start(struct wv_closer *c, struct wv_workers *workers);

/*
 * Waits until everything is closed, but not for long: threads that are held up stay behind, and @c
 * must then stay too, since they still read it. Returns how many do. Harmless if it was not
 * started.
 */
unsigned int wv_closer_stop(struct wv_closer *c);

/* Closes @fd soon; it becomes the closer's. @tenant is whose it was. */
void wv_closer_give(struct wv_closer *c, const struct wv_tenant *tenant, int fd);

/* The same for all of @fds. */
void wv_closer_give_all(struct wv_closer *c, const struct wv_tenant *tenant, const int *fds,
			unsigned int n);

/*
 * Whether @tenant's descriptors pile up because one of them does not get closed. Such a tenant must
 * not be given the chance to send more.
 */
bool wv_closer_is_held_up(struct wv_closer *c, const struct wv_tenant *tenant);

/*
 * Whether so many descriptors of @tenant wait that others may soon lack some: more than half of
 * what the others leave. None of its messages must be received then.
 */
bool wv_closer_is_full(struct wv_closer *c, const struct wv_tenant *tenant);

/* How many descriptors wait, or are being closed: of @tenant, or of all if that is NULL. */
unsigned int wv_closer_busy(struct wv_closer *c, const struct wv_tenant *tenant);
