/* SPDX-License-Identifier: BSD-2-Clause */
/* A client's end of a connection to a service. */
#include "base/base.h"
#include "service/conn_end.h"
#include "service/daemon_socket.h"
#include "service/events.h"
#include "service/route.h"

#include <errno.h>

#define DEFAULT_MS 1000

/* What is known of a connection in the making. */
struct making {
	struct wv_service_shape shape;
	struct wv_service_port port;
	union ibv_gid node;
	struct wv_service_note note; /* the question, and then its answer */
	struct wv_service_qp own;
	int64_t deadline;
};

/* Texts of notes are zero-filled. */
static bool copy_text(char *to, size_t capacity, const char *from)
{
	return !from || wv_copy_string(to, capacity, from);
}

static int prepare(struct making *m, const struct wv_connect_attr *attr)
{
	struct wv_service_note *note = &m->note;
	int err;

	*note = (struct wv_service_note){.word = WV_SERVICE_ASK};
	if (!attr->name || !*attr->name || !copy_text(note->name, sizeof(note->name), attr->name) ||
	    !copy_text(note->user, sizeof(note->user), attr->user))
		return -EINVAL;
	err = wv_service_shape_init(&m->shape, attr->pd, attr->qp, attr->access, attr->port_num);
	if (!err)
		err = wv_service_node(attr->node, &m->node);
	if (!err)
		err = wv_service_port_find(attr->pd->context, m->shape.port, &m->node, &m->port);
	if (!err && !m->port.is_peer)
		memcpy(note->node, &m->node, sizeof(note->node));
	m->deadline = wv_service_deadline(attr->timeout_ms ? attr->timeout_ms : DEFAULT_MS);
	return err;
}

/* A connection to the daemon that was idle may have ended with the daemon, which is back now. */
static int ask(struct making *m, struct wv_service_route **route)
{
	const struct wv_service_note question = m->note;
	bool fresh = false;
	int err;

	do {
		err = wv_service_route_take(route, fresh);
		if (err)
			return err;
		m->note = question;
		err = wv_service_route_ask(*route, &m->note, m->deadline);
		if (err)
			wv_service_route_put(*route, err == -ETIMEDOUT ? 0 : err);
		fresh = !fresh;
	} while (err && err != -ETIMEDOUT && fresh);
	return err;
}

/* The service has connected its end; @conn, which has the queue pair, becomes the other. */
static int finish(struct making *m, struct wv_service_conn_end *conn)
{
	int err = wv_service_qp_connect(conn->public.qp, &m->port, &m->own, &m->note.qp);

	wv_service_conn_know(conn, &m->note);
	if (err)
		wv_service_route_leave(conn->route, conn->number);
	return err;
}

/* 0; or -errno, and there is no connection. */
static int connect_qp(struct making *m, struct wv_service_conn_end *conn)
{
	struct wv_service_route *route;
	int err;

	wv_service_qp_describe(conn->public.qp, &m->shape, &m->port, &m->own);
	m->note.qp = m->own;
	err = ask(m, &route);
	if (err)
		return err;
	if (m->note.word == WV_SERVICE_MADE) {
		conn->route = route;
		conn->number = m->note.number;
		wv_service_route_keep(route);
		err = finish(m, conn);
	} else {
		err = m->note.error ? -m->note.error : -EPROTO;
	}
	wv_service_route_put(route, 0);
	return err;
}

static int make(const struct wv_connect_attr *attr, struct wv_service_conn_end *conn)
{
	struct making m;
	int err = prepare(&m, attr);

	if (!err)
		err = wv_service_qp_new(&m.shape, &conn->public.qp);
	if (err)
		return err;
	err = connect_qp(&m, conn);
	if (err)
		ibv_destroy_qp(conn->public.qp);
	return err;
}

WV_PUBLIC int wv_service_connect(const struct wv_connect_attr *attr, size_t size,
				 struct wv_service_connection **connection)
{
	struct wv_connect_attr known = {.node = NULL};
	struct wv_service_conn_end *conn;
	int err;

	if (!attr || !size || !connection)
		return EINVAL;
	memcpy(&known, attr, size < sizeof(known) ? size : sizeof(known));
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return ENOMEM;
	err = make(&known, conn);
	if (err)
		free(conn);
	else
		*connection = &conn->public;
	return -err;
}

WV_PUBLIC void wv_service_disconnect(struct wv_service_connection *connection)
{
	struct wv_service_conn_end *conn;

	if (!connection)
		return;
	conn = WV_OWNER(connection, struct wv_service_conn_end, public);
	if (connection->qp && ibv_destroy_qp(connection->qp))
		return;
	if (conn->route)
		wv_service_route_leave(conn->route, conn->number);
	else
		wv_offer_leave(conn);
	free(conn);
}
