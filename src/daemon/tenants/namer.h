/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that finds out which containers new clients are in, where containers are told apart: the
 * kernel may take its time to answer that.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#define WV_NAMER_MOST 1024 /* clients that wait for it */

struct wv_newcomer {
	STAILQ_ENTRY(wv_newcomer) link;
	int fd; /* the connection */
	uid_t uid;
	pid_t pid;
	uint64_t container; /* what the thread found */
};

STAILQ_HEAD(wv_newcomers, wv_newcomer);

struct wv_namer {
	/* Set by the owner before wv_namer_start(). Called in the loop; @fd becomes its owner's. */
	sd_event *event;
	void (*named)(void *arg, int fd, uid_t uid, uint64_t container);
	void (*settled)(void *arg); /* all that are known by now were named */
	void *arg;

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock: */
	struct wv_newcomers waiting, found;
	unsigned int n;
	bool stopping;

	sd_event_source *source; /* NULL: it is not started */
	int found_fd;		 /* an eventfd */
};

/* Starts the thread. 0 or -errno. */
int wv_namer_start(struct wv_namer *n);

/* Ends the thread, and closes the connections that it still has. Harmless if it was not started. */
void wv_namer_stop(struct wv_namer *n);

/*
 * Finds out which container @pid is in, and then calls the owner. @fd becomes the namer's. False,
 * and nothing happens: too many wait, or memory is short.
 */
bool wv_namer_give(struct wv_namer *n, int fd, uid_t uid, pid_t pid);
