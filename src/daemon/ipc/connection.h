/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of clients: receives their messages and gives them to the handlers.
 */
#pragma once

#include "base/log.h"
#include "daemon/ipc/client.h"

#define WV_FIRST_MESSAGE_US 5000000 /* a client that sends nothing for so long is disconnected */

struct wv_connection {
	struct wv_client client;
	struct wv_connections *all;
	LIST_ENTRY(wv_connection) link;
	sd_event_source *source; /* NULL while the first message is read */
};

struct wv_connections {
	/* Set by the owner before wv_connections_start(); it outlives the connections. */
	struct wv_service *service;

	LIST_HEAD(, wv_connection) all; /* newest first */
	sd_event_source *silence_timer;
	struct wv_log_limit malformed_limit;
	uint64_t message[(WV_WIRE_MAX + 7) / 8]; /* the message being received */
};

/* Prepares for connections. 0 or -errno. */
int wv_connections_start(struct wv_connections *cs);

/* Closes all connections. Harmless if there are none. */
void wv_connections_stop(struct wv_connections *cs);

/*
 * Closes a connection that only owes a report of a lease, the oldest one: of @user, or of anybody
 * if that is NULL. A program that waits for a lease comes before it. False: there is none.
 */
bool wv_connections_make_room(struct wv_connections *cs, const struct wv_user *user);

/*
 * Serves the connection @fd of @user until it ends. The descriptor becomes the connection's, on
 * failure too.
 */
void wv_connection_start(struct wv_connections *cs, int fd, struct wv_user *user);
