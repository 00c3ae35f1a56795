/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/asks.h"

#include "base/base.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"
#include "daemon/services/offers.h"

#include <errno.h>

/* Writes the name of the client's user into @ask. 0; -EINPROGRESS; or -EPERM: it has none. */
static int name_client(struct wv_services *s, const struct wv_service_process *client,
		       struct wv_service_note *ask)
{
	const char *user = wv_user_name(s->names, client->uid);

	if (!user)
		return -EINPROGRESS;
	strcpy(ask->client_user, user);
	return *user ? 0 : -EPERM;
}

static int ask_here(struct wv_services *s, struct wv_service_conn *conn,
		    struct wv_service_note *ask)
{
	int err = *ask->user ? name_client(s, conn->client, ask) : 0;
	struct wv_service_process *service;

	if (err == -EINPROGRESS)
		return err;
	service = wv_service_find(s, ask, &conn->client->uid);
	return service ? wv_service_ask(s, service, conn, ask) : -ENOENT;
}

static int ask_peer(struct wv_services *s, struct wv_service_conn *conn,
		    struct wv_service_note *ask)
{
	int err = name_client(s, conn->client, ask);
	struct wv_peer *peer = err ? NULL : wv_peers_find(s->peers, ask->node);

	if (err)
		return err;
	if (peer && (peer->state == WV_PEER_CONNECTING || peer->state == WV_PEER_IDLE))
		return -EINPROGRESS;
	if (!peer || !peer->up)
		return -EHOSTUNREACH;
	if (wv_peer_is_slow(peer))
		return -EINPROGRESS;
	ask->number = 0;
	ask->from = conn->number;
	conn->peer = peer;
	memcpy(conn->daemon, peer->up->hello.id, sizeof(conn->daemon));
	memcpy(conn->gid, ask->node, sizeof(conn->gid));
	return wv_service_send(peer, ask) ? -EHOSTUNREACH : 0;
}

/* False: the question of @conn has to wait. */
static bool pass_on(struct wv_services *s, struct wv_service_conn *conn)
{
	static const uint8_t here[16];
	struct wv_service_note *ask = conn->ask;
	bool is_here = !memcmp(ask->node, here, sizeof(here)) ||
		       wv_peer_table_has_self(&s->peers->table, ask->node);
	int err = is_here ? ask_here(s, conn, ask) : ask_peer(s, conn, ask);

	if (err == -EINPROGRESS)
		return false;
	conn->client->n_waiting--;
	free(conn->ask);
	conn->ask = NULL;
	if (err)
		wv_conn_refuse(s, conn, err);
	return true;
}

bool wv_asks_pass_on(struct wv_services *s)
{
	bool any = false;

	wv_each_conn (&s->conns, conn)
		if (conn->ask)
			any |= !pass_on(s, conn);
	return any;
}

void wv_ask_begin(struct wv_services *s, struct wv_service_process *client,
		  const struct wv_service_note *ask)
{
	const struct wv_service_note refused = {
	    .word = WV_SERVICE_REFUSED, .error = ENOBUFS, .number = ask->from};
	struct wv_service_note *copy = malloc(sizeof(*copy));
	bool has_room =
	    client->n_waiting < WV_SERVICE_WAITING && wv_service_has_room(s, client->tenant);
	struct wv_service_conn *conn = copy && has_room ? wv_conn_add(&s->conns) : NULL;

	if (!conn) {
		free(copy);
		wv_service_tell(client, &refused);
		return;
	}
	*copy = *ask;
	*copy->client_user = '\0';
	conn->ask = copy;
	conn->client_number = ask->from;
	wv_conn_join_client(conn, client);
	if (!pass_on(s, conn))
		wv_services_try_again(s);
}
