/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/asks.h"

#include "base/base.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"
#include "daemon/services/offers.h"

#include <errno.h>

static int ask_here(struct wv_services *s, struct wv_service_conn *conn,
		    struct wv_service_note *ask)
{
	const struct wv_service_process *client = conn->client;
	struct wv_service_process *service;

	if (*ask->user && !client->is_named)
		return -EINPROGRESS;
	strcpy(ask->client_user, client->user);
	service = wv_service_find(s, ask, &client->uid);
	return service ? wv_service_ask(s, service, conn, ask) : -ENOENT;
}

static int ask_peer(struct wv_services *s, struct wv_service_conn *conn,
		    struct wv_service_note *ask)
{
	const struct wv_service_process *client = conn->client;
	struct wv_peer *peer;

	if (!client->is_named)
		return -EINPROGRESS;
	if (!*client->user)
		return -EACCES;
	peer = wv_peers_find(s->peers, ask->node);
	if (peer && (peer->state == WV_PEER_CONNECTING || peer->state == WV_PEER_IDLE))
		return -EINPROGRESS;
	if (!peer || !peer->up)
		return -EHOSTUNREACH;
	if (wv_peer_is_slow(peer))
		return -EBUSY;
	strcpy(ask->client_user, client->user);
	ask->number = 0;
	ask->from = conn->number;
	conn->peer = peer;
	memcpy(conn->daemon, peer->up->hello.id, sizeof(conn->daemon));
	memcpy(conn->gid, ask->node, sizeof(conn->gid));
	return wv_service_send(peer, ask);
}

void wv_conn_pass_on(struct wv_services *s, struct wv_service_conn *conn)
{
	static const uint8_t here[16];
	struct wv_service_note *ask = conn->ask;
	bool is_here = !memcmp(ask->node, here, sizeof(here));
	int err = is_here ? ask_here(s, conn, ask) : ask_peer(s, conn, ask);

	if (err == -EINPROGRESS)
		return;
	free(ask);
	conn->ask = NULL;
	if (err)
		wv_conn_refuse(s, conn, err);
}
