/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of connections, one by one. A connection that ends is freed. */
#pragma once

#include "daemon/services/service_state.h"

/* The place of a peer whose connection was lost. */
#define WV_LOST_PEER ((struct wv_peer *)-1)

/* @process becomes the client, or the service, of @conn. */
void wv_conn_join_client(struct wv_service_conn *conn, struct wv_service_process *process);
void wv_conn_join_service(struct wv_service_conn *conn, struct wv_service_process *process);

/* Ends @conn, of which nobody is to hear any more. */
void wv_conn_drop(struct wv_services *s, struct wv_service_conn *conn);

/* The end that @process has is gone; the other one is told. */
void wv_conn_leave(struct wv_services *s, struct wv_service_conn *conn,
		   const struct wv_service_process *process);

/* The end on another node is gone, or cannot be there any more; that on this node is told. */
void wv_conn_left_by_peer(struct wv_services *s, struct wv_service_conn *conn);

/* Tells the client of @conn, here or on another node, what became of what it asked. */
void wv_conn_answer(struct wv_services *s, struct wv_service_conn *conn,
		    const struct wv_service_note *answer);

/* The same, if it is that there is no connection, for the reason @err, which is -errno. */
void wv_conn_refuse(struct wv_services *s, struct wv_service_conn *conn, int err);

/* Tells those who did not read. */
int wv_conns_tell_again(sd_event_source *timer, uint64_t now, void *services);
