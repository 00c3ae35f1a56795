/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/client.h"

#include <ctype.h>
#include <string.h>

/* A client's text goes into logs and documents, so only printable ASCII is kept of it. */
static void copy_printable(char *to, const char *from, size_t capacity)
{
	size_t i = 0;

	for (; i < capacity && from[i]; i++)
		to[i] = isascii((unsigned char)from[i]) && isprint((unsigned char)from[i]) ? from[i]
											   : '?';
	to[i] = '\0';
}

void wv_client_remember(struct wv_client *c, const struct wv_msg_request *request)
{
	struct wv_key *key = &c->key;

	key->program = request->program;
	key->verbs = request->verbs;
	key->open_number = request->open_number;
	strcpy(key->kernel, c->service->planner->kernel);
	copy_printable(key->name, request->name, sizeof(request->name));
	copy_printable(c->comm, request->comm, sizeof(request->comm));
	c->argv = request->argv;
}
