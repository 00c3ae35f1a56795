/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/processes.h"

#include "base/base.h"
#include "daemon/services/asks.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"

#include <errno.h>

struct wv_service_process *wv_service_process_add(struct wv_services *s, int sock, uid_t uid,
						  const struct wv_tenant *tenant)
{
	struct wv_service_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->sock = sock;
	process->uid = uid;
	process->tenant = tenant;
	LIST_INSERT_HEAD(&s->processes, process, link);
	return process;
}

/* Answers the offer of @process, once it is known what its user is called. False: not yet. */
static bool confirm(const struct wv_services *s, struct wv_service_process *process)
{
	const struct wv_service_note offered = {.word = WV_SERVICE_OFFERED,
						.number = process->offer};

	process->is_offered = wv_user_name(s->names, process->uid);
	if (process->is_offered)
		wv_service_tell(process, &offered);
	return process->is_offered;
}

bool wv_service_offers_confirm(struct wv_services *s)
{
	struct wv_service_process *process;
	bool any = false;

	each_process (s, process)
		if (*process->name && !process->is_offered)
			any |= !confirm(s, process);
	return any;
}

static bool is_taken(const struct wv_services *s, const struct wv_service_process *by,
		     const char *name)
{
	const struct wv_service_process *process;

	each_process (s, process)
		if (process->uid == by->uid && !strcmp(process->name, name))
			return true;
	return false;
}

static int offer(struct wv_services *s, struct wv_service_process *process,
		 const struct wv_service_note *note)
{
	const struct wv_service_note refused = {
	    .word = WV_SERVICE_REFUSED, .error = EEXIST, .number = note->from};

	if (*process->name || !*note->name || note->data_bytes == sizeof(process->users))
		return -EPROTO;
	if (is_taken(s, process, note->name)) {
		wv_service_tell(process, &refused);
		return 0;
	}
	strcpy(process->name, note->name);
	memcpy(process->users, note->data, note->data_bytes);
	process->offer = note->from;
	if (!confirm(s, process))
		wv_services_try_again(s);
	return 0;
}

/* What a service says of its end of a connection; nothing if the other end is gone already. */
static void take_word(struct wv_services *s, struct wv_service_process *process,
		      const struct wv_service_note *note)
{
	struct wv_service_conn *conn = wv_conn_find(&s->conns, note->number);

	if (!conn || conn->service != process)
		return;
	if (note->word == WV_SERVICE_GONE)
		wv_conn_leave(s, conn, process);
	else if (conn->is_made || conn->unsaid == WV_SERVICE_GONE)
		return;
	else if (note->word == WV_SERVICE_REFUSED)
		wv_conn_refuse(s, conn, note->error ? -note->error : -EIO);
	else if (note->word == WV_SERVICE_MADE && conn->is_making)
		wv_conn_made(s, conn);
	else if (note->word == WV_SERVICE_MAKING && !conn->is_making)
		wv_conn_making(s, conn, note);
}

/* A client's end is gone; clients call connections by numbers of their own. */
static void leave(struct wv_services *s, struct wv_service_process *client, uint64_t number)
{
	struct wv_service_conn *conn;

	LIST_FOREACH (conn, &client->as_client, client_link)
		if (conn->client_number == number) {
			wv_conn_leave(s, conn, client);
			return;
		}
}

int wv_service_process_says(struct wv_services *s, struct wv_service_process *process,
			    const struct wv_service_note *note)
{
	if (!wv_service_note_is_sound(note))
		return -EPROTO;
	switch (note->word) {
	case WV_SERVICE_OFFER:
		return offer(s, process, note);
	case WV_SERVICE_ASK:
		wv_ask_begin(s, process, note);
		return 0;
	case WV_SERVICE_GONE:
		if (!note->number) {
			leave(s, process, note->from);
			return 0;
		}
		/* fall through */
	case WV_SERVICE_MAKING:
	case WV_SERVICE_MADE:
	case WV_SERVICE_REFUSED:
		take_word(s, process, note);
		return 0;
	default:
		return -EPROTO;
	}
}

void wv_service_process_remove(struct wv_services *s, struct wv_service_process *process)
{
	while (!LIST_EMPTY(&process->as_client))
		wv_conn_leave(s, LIST_FIRST(&process->as_client), process);
	while (!LIST_EMPTY(&process->as_service))
		wv_conn_leave(s, LIST_FIRST(&process->as_service), process);
	LIST_REMOVE(process, link);
	free(process);
}
