/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out which containers new clients are in, where containers are told apart. A worker does,
 * since the kernel may take its time to answer that. Users take turns.
 */
#pragma once

#include "daemon/loop/workers.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Clients that wait for it. Those of one user are at most half of what the others leave. */
#define WV_NAMER_MOST 1024

struct wv_newcomers; /* of one user */

struct wv_namer {
	/* Set by the owner before wv_namer_start(). Called in the loop; @fd becomes its owner's. */
	struct wv_workers *workers;
	void (*named)(void *arg, int fd, uid_t uid, uint64_t container);
	void (*settled)(void *arg); /* all that are known by now were named */
	void *arg;

	struct wv_line *line; /* NULL: it is not started, or ends */
	LIST_HEAD(, wv_newcomers) all;
	unsigned int n;
};

/* 0 or -errno. */
int wv_namer_start(struct wv_namer *n);

/* Closes the connections that it still has. Harmless if it was not started. */
void wv_namer_stop(struct wv_namer *n);

/*
 * Finds out which container @peer is in, and then calls the owner. @fd becomes the namer's. The
 * peers of @owner, who may have lent them their users, wait for each other. False, and nothing
 * happens: too many wait, or memory is short.
 */
bool wv_namer_give(struct wv_namer *n, int fd, uid_t owner, const struct ucred *peer);
