/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread for what may take long and is needed seldom, such as asking the DNS: one errand at a
 * time; its result comes back to the loop.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

struct wv_errand {
	STAILQ_ENTRY(wv_errand) link;
	/* Called in the thread. */
	void (*run)(struct wv_errand *errand);
	/* Called by the loop, afterwards; or by wv_errands_stop(), and then it may not have run.
	 * The errand belongs to it. */
	void (*done)(struct wv_errand *errand);
};

STAILQ_HEAD(wv_errand_list, wv_errand);

struct wv_errands {
	sd_event *event; /* set by the owner */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct wv_errand_list waiting, finished;
	bool running, stopping;
	int finished_fd;
	sd_event_source *source;
};

/* Starts the thread. 0 or -errno. */
int wv_errands_start(struct wv_errands *e);

/* Has @errand run. */
void wv_errands_give(struct wv_errands *e, struct wv_errand *errand);

/*
 * Ends the thread. Harmless if it was not started. False: the errand that it is at takes too long;
 * then @e must stay, and so must what the errand uses.
 */
bool wv_errands_stop(struct wv_errands *e);
