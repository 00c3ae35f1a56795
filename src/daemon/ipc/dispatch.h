/* SPDX-License-Identifier: BSD-2-Clause */
/* Which message of a client is expected when, and who handles it. */
#pragma once

#include "daemon/ipc/client.h"

/* Handles the message @in, of @bytes as received. */
enum wv_client_next wv_dispatch(struct wv_client *c, const struct wv_received *in, size_t bytes);

/* Programs wait for leases only; whatever else is asked for can take its time. */
static inline bool wv_is_dear(const struct wv_msg *msg)
{
	return msg->type != WV_MSG_REQUEST && msg->type != WV_MSG_REPORT;
}

/* The daemon is done with @c, whose connection lasts until it has read its answers. */
void wv_dispatch_stop(struct wv_client *c);

/* The connection of @c is about to end: nothing that its messages began is left. */
void wv_dispatch_end(struct wv_client *c);
