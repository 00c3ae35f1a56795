/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of clients: receives their messages and gives them to the handlers.
 */
#pragma once

#include "base/log.h"
#include "daemon/ipc/client.h"
#include "daemon/ipc/rest.h"
#include "daemon/tenants/turns.h"

#define WV_FIRST_MESSAGE_US 5000000 /* a client that sends nothing for so long is disconnected */

struct wv_connection {
	struct wv_client client;
	struct wv_connections *all;
	TAILQ_ENTRY(wv_connection) link, tenant_link;
	struct wv_turn turn;
	struct wv_rest rest;
	bool dear;		 /* the message that it waits with is dear */
	bool ended;		 /* by the daemon; what comes is dropped */
	sd_event_source *source; /* NULL until the first message was read */
};

struct wv_connections {
	/* Set by the owner before wv_connections_start(); it outlives the connections. */
	struct wv_service *service;

	TAILQ_HEAD(wv_connections_list, wv_connection) all; /* oldest first */
	struct wv_turns turns;
	struct wv_rests rests;
	/* A dear message delays whoever comes next, so dear ones have a share of the time only. */
	int64_t dear_us; /* no dear message is served before this time */
	sd_event_source *silence_timer, *more_source, *dear_timer;
	struct wv_log_limit malformed_limit;
	uint64_t message[(WV_WIRE_MAX + 7) / 8]; /* the message being received */
};

/* Prepares for connections. 0 or -errno. */
int wv_connections_start(struct wv_connections *cs);

/* Closes all connections. Harmless if there are none. */
void wv_connections_stop(struct wv_connections *cs);

/*
 * Closes a connection of @tenant that owes no more than the report of a lease, one of the oldest: a
 * program that waits for a lease comes before it. False: none was found. Answers that were not read
 * keep their connections.
 */
bool wv_connections_make_room(struct wv_tenant *tenant);

/*
 * Serves the connection @fd of @user, for whom @tenant is charged, in its turn, until it ends. The
 * descriptor becomes the connection's, on failure too. @administrator: it came by that socket.
 */
void wv_connection_start(struct wv_connections *cs, int fd, struct wv_user *user,
			 struct wv_tenant *tenant, bool administrator);

/* Serves whose turn it is, for a moment. */
void wv_connections_serve(struct wv_connections *cs);
