/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/processes.h"

#include "base/base.h"
#include "daemon/services/asks.h"
#include "daemon/services/conns.h"
#include "daemon/services/notes.h"
#include "daemon/services/offers.h"

#include <errno.h>

#define each_process(s, process) LIST_FOREACH (process, &(s)->processes, link)

/* Answers the offer of @process, if it has made one, once the name of its user is known. */
static void confirm(struct wv_service_process *process)
{
	const struct wv_service_note offered = {.word = WV_SERVICE_OFFERED,
						.number = process->offer};

	if (*process->name && process->is_named)
		wv_service_tell(process, &offered);
}

static void name_user(struct wv_services *s, struct wv_service_process *process)
{
	const char *user = wv_user_name(s->names, process->uid);

	process->is_named = user;
	if (user)
		strcpy(process->user, user);
}

void wv_service_user_known(void *services, uid_t uid)
{
	struct wv_services *s = services;
	struct wv_service_process *process;

	each_process (s, process) {
		if (process->is_named || process->uid != uid)
			continue;
		name_user(s, process);
		confirm(process);
	}
	wv_each_conn (&s->conns, conn)
		if (conn->ask && conn->client->uid == uid)
			wv_conn_pass_on(s, conn);
}

struct wv_service_process *wv_service_process_add(struct wv_services *s, int sock, uid_t uid,
						  const struct wv_tenant *tenant)
{
	struct wv_service_process *process;

	if (wv_user_names_start(s->names, s->workers))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->sock = sock;
	process->uid = uid;
	process->tenant = tenant;
	LIST_INSERT_HEAD(&s->processes, process, link);
	name_user(s, process);
	return process;
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
	confirm(process);
	return 0;
}

static int ask(struct wv_services *s, struct wv_service_process *process,
	       const struct wv_service_note *note)
{
	const struct wv_service_note refused = {
	    .word = WV_SERVICE_REFUSED, .error = ENOBUFS, .number = note->from};
	struct wv_service_note *copy = malloc(sizeof(*copy));
	struct wv_service_conn *conn =
	    copy && wv_service_has_room(s, process) ? wv_conn_add(&s->conns) : NULL;

	if (!conn) {
		free(copy);
		wv_service_tell(process, &refused);
		return 0;
	}
	*copy = *note;
	conn->ask = copy;
	conn->client_number = note->from;
	wv_conn_join_client(conn, process);
	wv_conn_pass_on(s, conn);
	return 0;
}

/* The connection that @process says something of. Clients call it by a number of their own. */
static struct wv_service_conn *find(const struct wv_services *s,
				    const struct wv_service_process *process,
				    const struct wv_service_note *note)
{
	struct wv_service_conn *conn = wv_conn_find(&s->conns, note->number);

	if (conn && conn->service == process)
		return conn;
	LIST_FOREACH (conn, &process->as_client, client_link)
		if (note->word == WV_SERVICE_GONE && conn->client_number == note->from)
			return conn;
	return NULL;
}

static void answer(struct wv_services *s, struct wv_service_conn *conn,
		   const struct wv_service_note *note)
{
	if (conn->is_made || conn->is_untold)
		return;
	if (note->word == WV_SERVICE_REFUSED) {
		wv_conn_refuse(s, conn, note->error ? -note->error : -EIO);
		return;
	}
	conn->is_made = true;
	wv_conn_answer(s, conn, note);
}

int wv_service_process_says(struct wv_services *s, struct wv_service_process *process,
			    const struct wv_service_note *note)
{
	struct wv_service_conn *conn;

	if (!wv_service_note_is_sound(note))
		return -EPROTO;
	if (note->word == WV_SERVICE_OFFER)
		return offer(s, process, note);
	if (note->word == WV_SERVICE_ASK)
		return ask(s, process, note);
	if (note->word != WV_SERVICE_MADE && note->word != WV_SERVICE_REFUSED &&
	    note->word != WV_SERVICE_GONE)
		return -EPROTO;
	conn = find(s, process, note);
	if (!conn)
		return 0; /* the other end has gone at the same time */
	if (note->word == WV_SERVICE_GONE)
		wv_conn_leave(s, conn, process);
	else if (conn->service == process)
		answer(s, conn, note);
	return 0;
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
