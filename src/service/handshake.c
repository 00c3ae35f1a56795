/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/handshake.h"

#include "base/base.h"
#include "service/daemon_socket.h"
#include "service/route.h"

#include <errno.h>

#define DEFAULT_MS 1000

/* What is known of a connection that is being made. */
struct handshake {
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

static int prepare(struct handshake *h, const struct wv_connect_attr *attr)
{
	struct wv_service_note *note = &h->note;
	int err;

	*note = (struct wv_service_note){.word = WV_SERVICE_ASK};
	if (!attr->name || !*attr->name || !copy_text(note->name, sizeof(note->name), attr->name) ||
	    !copy_text(note->user, sizeof(note->user), attr->user))
		return -EINVAL;
	err = wv_service_shape_init(&h->shape, attr->pd, attr->qp, attr->access, attr->port_num);
	if (!err)
		err = wv_service_node(attr->node, &h->node);
	if (err)
		return err;
	h->port = h->shape.port;
	err = wv_service_port_aim(attr->pd->context, &h->node, &h->port);
	if (!err && !h->port.has_peer)
		memcpy(note->node, &h->node, sizeof(note->node));
	h->deadline = wv_service_deadline(attr->timeout_ms ? attr->timeout_ms : DEFAULT_MS);
	return err;
}

/* A connection to the daemon that was idle may have ended with the daemon, which is back now. */
static int ask(struct handshake *h, struct wv_service_route **route)
{
	const struct wv_service_note question = h->note;
	bool was_used;
	int err;

	do {
		err = wv_service_route_take(route);
		if (err)
			return err;
		was_used = wv_service_route_is_used(*route);
		h->note = question;
		err = wv_service_route_ask(*route, &h->note, h->deadline);
		if (err)
			wv_service_route_put(*route, err);
	} while (was_used && wv_service_is_lost(err));
	return err;
}

/* Takes over what the service tells of its memory and itself. */
static void know(struct wv_service_conn_end *end, const struct wv_service_note *making)
{
	struct wv_service_connection *public = &end->public;

	for (unsigned int i = 0; i < making->n_regions; i++)
		end->regions[i] = (struct wv_region){.addr = making->regions[i].addr,
						     .length = making->regions[i].length,
						     .rkey = making->regions[i].rkey};
	memcpy(end->data, making->data, making->data_bytes);
	public->regions = making->n_regions ? end->regions : NULL;
	public->n_regions = making->n_regions;
	public->data = making->data_bytes ? end->data : NULL;
	public->data_bytes = making->data_bytes;
}

static int refusal(const struct wv_service_note *note)
{
	return note->word == WV_SERVICE_REFUSED && note->error ? -note->error : -EPROTO;
}

/* The service connects its end, and @end becomes the other, meanwhile. 0 or -errno. */
static int finish(struct handshake *h, struct wv_service_conn_end *end)
{
	int err = wv_service_qp_rtr(end->public.qp, &h->port, &h->own, &h->note.qp);

	if (!err)
		err = wv_service_qp_rts(end->public.qp, &h->shape, &h->own, &h->note.qp);
	know(end, &h->note);
	if (!err)
		err = wv_service_route_hear(end->route, end->number, &h->note, h->deadline);
	if (!err && h->note.word != WV_SERVICE_MADE)
		err = refusal(&h->note);
	return err;
}

/* 0; or -errno, and there is no connection. */
static int connect_qp(struct handshake *h, struct wv_service_conn_end *end)
{
	struct wv_service_route *route;
	int err;

	wv_service_qp_describe(end->public.qp, &h->shape, &h->port, &h->own);
	h->note.qp = h->own;
	err = ask(h, &route);
	if (err)
		return err;
	if (h->note.word == WV_SERVICE_MAKING) {
		end->number = h->note.number;
		wv_service_route_keep(route, end);
		err = finish(h, end);
	} else {
		err = refusal(&h->note);
	}
	wv_service_route_put(route, 0);
	return err;
}

int wv_service_make(const struct wv_connect_attr *attr, struct wv_service_conn_end **made)
{
	struct wv_service_conn_end *end = calloc(1, sizeof(*end));
	struct handshake h;
	int err = end ? prepare(&h, attr) : -ENOMEM;

	if (!err)
		err = wv_service_qp_new(&h.shape, &end->public.qp);
	if (!err)
		err = connect_qp(&h, end);
	if (err)
		wv_service_conn_end(end);
	else
		*made = end;
	return err;
}

void wv_service_conn_end(struct wv_service_conn_end *end)
{
	if (end && end->public.qp)
		ibv_destroy_qp(end->public.qp);
	if (end && end->route)
		wv_service_route_leave(end);
	else
		free(end);
}
