/* SPDX-License-Identifier: BSD-2-Clause */
/* What this process offers. */
#pragma once

#include "service/conn_end.h"
#include "service/queue_pair.h"

#include <pthread.h>
#include <sys/queue.h>

#define WV_OFFER_MOST_READY 64

struct wv_offer {
	LIST_ENTRY(wv_offer) link;
	/* What is offered; constant. */
	struct wv_service_note note;   /* OFFER */
	struct wv_service_note making; /* what each client is told: regions and data */
	struct wv_service_shape shape;
	unsigned int ready;

	pthread_t thread;
	/* The thread's, which others may not use: */
	struct ibv_qp *qps[WV_OFFER_MOST_READY];
	unsigned int n_qps;
	unsigned int failures; /* in a row, to reach the daemon */

	int stop_fd;	   /* readable once the thread is to end */
	int event_fd;	   /* readable while @events has any */
	bool is_inherited; /* this is a child after fork(2) */

	pthread_mutex_t lock; /* of the rest */
	int sock;	      /* -1: there is no daemon now. Only the thread changes it */
	struct wv_service_ends conns;
	struct wv_service_ends left; /* ended, and the daemon was not reading */
	TAILQ_HEAD(, wv_service_conn_end) events;
};
