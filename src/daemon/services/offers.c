/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/offers.h"

#include "base/base.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"

#include <errno.h>

/* Questions in a second that a service is asked, and at once. */
static const struct wv_allowance_rate ask_rate = {.share_us = 5000, .most_us = 1024};

/* Whether @user is one of @list, which has commas between its items. */
static bool is_listed(const char *list, const char *user)
{
	size_t bytes = strcspn(user, ",");

	if (user[bytes])
		return false;
	for (const char *at = list; at && *at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, user, bytes) && (at[bytes] == ',' || !at[bytes]))
			return true;
	}
	return false;
}

/* Whether a client of another user, or of another node, may use @service. */
static bool admits(const struct wv_services *s, const struct wv_service_process *service,
		   const struct wv_service_note *ask)
{
	const char *user = wv_user_name(s->names, service->uid);
	const char *owner = *ask->user ? ask->user : ask->client_user;

	return user && *ask->client_user && !strcmp(owner, user) &&
	       (!strcmp(ask->client_user, user) || is_listed(service->users, ask->client_user));
}

struct wv_service_process *wv_service_find(const struct wv_services *s,
					   const struct wv_service_note *ask, const uid_t *uid)
{
	struct wv_service_process *process;

	each_process (s, process) {
		bool is_own = uid && *uid == process->uid && !*ask->user;

		if (process->is_offered && !strcmp(process->name, ask->name) &&
		    (is_own || admits(s, process, ask)))
			return process;
	}
	return NULL;
}

bool wv_service_has_room(const struct wv_services *s, const struct wv_tenant *tenant)
{
	const struct wv_service_process *process;
	unsigned int own = 0;

	each_process (s, process)
		if (process->tenant == tenant)
			own += process->n_as_client + process->n_as_service;
	return own < wv_share_limit(WV_CONNS_MOST, s->conns.n > own ? s->conns.n - own : 0);
}

/* Whether the two are clients of one user of this node, or of one other node. */
static bool is_of_one(const struct wv_service_conn *a, const struct wv_service_conn *b)
{
	if (!a->client || !b->client)
		return a->peer && a->peer == b->peer;
	return a->client->tenant == b->client->tenant;
}

/* No user, and no node, gets all that a service may have. */
static bool has_room_for(const struct wv_service_process *service,
			 const struct wv_service_conn *conn)
{
	const struct wv_service_conn *other;
	unsigned int n = 0;

	LIST_FOREACH (other, &service->as_service, service_link)
		n += is_of_one(other, conn);
	return n < wv_share_limit(WV_SERVICE_CLIENTS, service->n_as_service - n);
}

int wv_service_ask(struct wv_services *s, struct wv_service_process *service,
		   struct wv_service_conn *conn, const struct wv_service_note *ask)
{
	struct wv_service_note note = *ask;
	int err;

	if (!wv_service_has_room(s, service->tenant) || !has_room_for(service, conn))
		return -ENOBUFS;
	if (wv_allowance_wait(&service->asks, &ask_rate, wv_steady_clock()))
		return -EBUSY;
	wv_allowance_charge(&service->asks, 1);
	note.number = 0;
	note.from = conn->number;
	err = wv_service_tell(service, &note);
	if (!err)
		wv_conn_join_service(conn, service);
	return err == -EAGAIN ? -EBUSY : err;
}
