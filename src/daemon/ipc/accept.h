/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accepts new connections: limits, and what happens when descriptors run out.
 */
#pragma once

#include "daemon/ipc/connection.h"
#include "daemon/ipc/doors.h"
#include "daemon/tenants/namer.h"

#define WV_MAX_CLIENTS_PER_TENANT 512

struct wv_acceptor {
	/* Set by the owner before wv_accept_start(). */
	struct wv_connections *connections;
	struct wv_tenants *tenants;
	unsigned int max_clients;
	bool per_container;    /* each container of a user is a tenant */
	int listen_fd;	       /* stays the owner's */
	int admin_fd;	       /* the administrator's socket, or -1; the same */
	struct wv_doors doors; /* of which the acceptor says who is called */

	sd_event_source *pause_timer;
	struct wv_namer namer;
	struct wv_log_limit descriptors_limit;
	int spare_fd; /* -1: none */
};

/* Starts to accept. 0 or -errno. */
int wv_accept_start(struct wv_acceptor *a);

/* Stops accepting; connections stay. Harmless if it was not started. */
void wv_accept_stop(struct wv_acceptor *a);
