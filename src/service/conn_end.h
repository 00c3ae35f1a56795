/* SPDX-License-Identifier: BSD-2-Clause */
/* One end of a connection, as this library knows it. */
#pragma once

#include "service/queue_pair.h"
#include "warmverbs-service.h"

#include <sys/queue.h>

_Static_assert(WV_SERVICE_MOST_REGIONS == WV_SERVICE_REGIONS, "as the header says");
_Static_assert(WV_SERVICE_MOST_DATA == WV_SERVICE_DATA, "as the header says");

struct wv_offer;
struct wv_service_route;

struct wv_service_conn_end {
	struct wv_service_connection public;
	uint64_t number; /* of a client's end: its own; of a service's: the daemon's */
	/* A client's end: */
	struct wv_service_route *route;
	bool is_gone; /* the service has ended it */
	struct wv_region regions[WV_SERVICE_REGIONS];
	uint8_t data[WV_SERVICE_DATA];
	/* A service's: */
	struct wv_offer *offer; /* NULL: it was withdrawn */
	TAILQ_ENTRY(wv_service_conn_end) event_link;
	enum wv_service_event_type event; /* that waits for the program; 0: none does */
	bool is_known;			  /* the program has it */
	/* Of its route, or offer: */
	LIST_ENTRY(wv_service_conn_end) link;
	TAILQ_ENTRY(wv_service_conn_end) ready_link; /* of a stock */
};

LIST_HEAD(wv_service_ends, wv_service_conn_end);

/*
 * Tells the daemon at @sock that the connections of @left are no more, as long as it reads, and
 * frees what it was told of; or all, if @sock is -1. Whether nothing is left.
 */
bool wv_service_say_left(int sock, struct wv_service_ends *left);
