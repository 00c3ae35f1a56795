/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/offers.h"

#include "base/base.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"

#include <errno.h>

#define each_process(s, process) LIST_FOREACH (process, &(s)->processes, link)

/* Whether @user is one of @list, which has commas between its items. */
static bool is_listed(const char *list, const char *user)
{
	size_t bytes = strlen(user);

	for (const char *at = list; at && *at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, user, bytes) && (at[bytes] == ',' || !at[bytes]))
			return true;
	}
	return false;
}

/* Whether a client of another user, or of another node, may use @service. */
static bool admits(const struct wv_service_process *service, const struct wv_service_note *ask)
{
	const char *owner = *ask->user ? ask->user : ask->client_user;

	return *ask->client_user && !strcmp(owner, service->user) &&
	       (!strcmp(ask->client_user, service->user) ||
		is_listed(service->users, ask->client_user));
}

struct wv_service_process *wv_service_find(const struct wv_services *s,
					   const struct wv_service_note *ask, const uid_t *uid)
{
	struct wv_service_process *process;

	each_process (s, process) {
		bool is_own = uid && *uid == process->uid && !*ask->user;

		if (*process->name && !strcmp(process->name, ask->name) &&
		    (is_own || admits(process, ask)))
			return process;
	}
	return NULL;
}

bool wv_service_has_room(const struct wv_services *s, const struct wv_service_process *process)
{
	const struct wv_service_process *other;
	unsigned int own = 0;

	each_process (s, other)
		own += other->tenant == process->tenant ? other->n_conns : 0;
	return own < wv_share_limit(WV_SERVICE_CONNS, s->conns.n > own ? s->conns.n - own : 0);
}

int wv_service_ask(struct wv_services *s, struct wv_service_process *service,
		   struct wv_service_conn *conn, const struct wv_service_note *ask)
{
	struct wv_service_note note = *ask;
	int err;

	if (!wv_service_has_room(s, service))
		return -EBUSY;
	note.number = 0;
	note.from = conn->number;
	err = wv_service_tell(service, &note);
	if (!err)
		wv_conn_join_service(conn, service);
	return err == -EAGAIN ? -EBUSY : err;
}
