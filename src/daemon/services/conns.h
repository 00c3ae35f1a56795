/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of connections, one by one. */
#pragma once

#include "daemon/services/service_state.h"

/* @process becomes the client, or the service, of @conn. */
void wv_conn_join_client(struct wv_service_conn *conn, struct wv_service_process *process);
void wv_conn_join_service(struct wv_service_conn *conn, struct wv_service_process *process);

/* Frees @conn, of which nobody is to hear any more. */
void wv_conn_drop(struct wv_services *s, struct wv_service_conn *conn);

/*
 * The end that @process has is gone. Who has the other one is told, now or as soon as it reads, and
 * then @conn is freed.
 */
void wv_conn_leave(struct wv_services *s, struct wv_service_conn *conn,
		   const struct wv_service_process *process);

/* The same for the end on another node, which is gone, or cannot be reached any more. */
void wv_conn_left_by_peer(struct wv_services *s, struct wv_service_conn *conn);

/*
 * The service connects its end of @conn, with the queue pair that @making says; it has done so.
 * The client, here or on another node, is told.
 */
void wv_conn_making(struct wv_services *s, struct wv_service_conn *conn,
		    const struct wv_service_note *making);
void wv_conn_made(struct wv_services *s, struct wv_service_conn *conn);

/*
 * There is no connection, for the reason @err, which is -errno: the client is told, unless it does
 * not read, and @conn is freed.
 */
void wv_conn_refuse(struct wv_services *s, struct wv_service_conn *conn, int err);

/* @conn, which was lost, is at @peer again: whether its client lasts is asked. */
void wv_conn_find_again(struct wv_services *s, struct wv_service_conn *conn, struct wv_peer *peer);

/* Says what is still unsaid to those who read now. Whether anything is left. */
bool wv_conns_say_rest(struct wv_services *s);
