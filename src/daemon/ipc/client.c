/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/client.h"

#include <ctype.h>
#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* Each may be as long as the longest recipe is as text. */
#define MAX_DOCUMENTS_PER_TENANT 4

bool wv_tenant_may_have_clients(struct wv_tenant *tenant)
{
	if (tenant->clients)
		return true;
	tenant->clients = calloc(1, sizeof(*tenant->clients));
	if (tenant->clients)
		TAILQ_INIT(&tenant->clients->connections);
	return tenant->clients;
}

/* A client's text goes into logs and documents, so only printable ASCII is kept of it. */
static void copy_printable(char *to, const char *from, size_t capacity)
{
	size_t i = 0;

	for (; i < capacity && from[i]; i++)
		to[i] = isascii((unsigned char)from[i]) && isprint((unsigned char)from[i]) ? from[i]
											   : '?';
	to[i] = '\0';
}

/*
 * From the last key on, opens that do the same share a recipe. Those that do not have variants of
 * it: the first of these opens are told apart as if each had arguments of its own.
 */
static uint64_t argv_of(const struct wv_msg_request *request)
{
	uint32_t open = request->open_number;

	if (open < WV_KEY_OPENS)
		return request->argv;
	if (open >= WV_MAX_VARIANTS)
		open = WV_MAX_VARIANTS - 1;
	return wv_hash(request->argv, &open, sizeof(open));
}

void wv_client_remember(struct wv_client *c, const struct wv_msg_request *request)
{
	struct wv_key *key = &c->key;

	key->program = request->program;
	key->verbs = request->verbs;
	key->open_number =
	    request->open_number < WV_KEY_OPENS ? request->open_number : WV_KEY_OPENS - 1;
	strcpy(key->kernel, c->service->planner->kernel);
	copy_printable(key->name, request->name, sizeof(request->name));
	copy_printable(c->comm, request->comm, sizeof(request->comm));
	c->argv = argv_of(request);
	c->flags = request->flags;
}

static bool may_fly(const struct wv_client *c, unsigned int n_fds)
{
	const struct wv_service *s = c->service;
	uint32_t own = c->tenant->clients->in_flight;

	return own + n_fds <= wv_share_limit(s->max_in_flight, s->in_flight - own);
}

bool wv_client_may_be_answered(const struct wv_client *c)
{
	return may_fly(c, WV_WIRE_MAX_FDS) &&
	       c->tenant->clients->n_documents < MAX_DOCUMENTS_PER_TENANT;
}

static void charge(struct wv_client *c, const struct wv_answer_parts *answer)
{
	c->in_flight += answer->n_fds;
	c->tenant->clients->in_flight += answer->n_fds;
	c->service->in_flight += answer->n_fds;
	c->tenant->clients->n_documents += answer->document && !c->document;
	c->document |= answer->document;
}

void wv_client_discharge(struct wv_client *c)
{
	c->tenant->clients->in_flight -= c->in_flight;
	c->service->in_flight -= c->in_flight;
	c->tenant->clients->n_documents -= c->document;
	c->in_flight = 0;
	c->document = false;
}

int wv_client_answer(struct wv_client *c, const struct wv_answer_parts *a)
{
	int err;

	if ((a->n_fds && !may_fly(c, a->n_fds)) ||
	    (a->document && c->tenant->clients->n_documents >= MAX_DOCUMENTS_PER_TENANT))
		return -EDQUOT;
	err = wv_send(c->fd, a->head, a->head_bytes, a->tail, a->tail_bytes, a->fds, a->n_fds);
	if (!err)
		charge(c, a);
	return err;
}

/* What was sent and not read yet is charged to the sender's buffer (unix(7)). */
bool wv_client_has_read(const struct wv_client *c)
{
	int bytes = 0;

	return !ioctl(c->fd, SIOCOUTQ, &bytes) && !bytes;
}

bool wv_client_is_dispensable(const struct wv_client *c)
{
	return (c->state == WV_CLIENT_LEASED && !c->pair) || c->state == WV_CLIENT_DONE ||
	       (c->state == WV_CLIENT_RECORDING && c->recipe);
}
