/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that offer services, or are to be connected to some (wire/service_note.h). */
#pragma once

#include "daemon/ipc/client.h"

enum wv_client_next wv_handle_service(struct wv_client *c, const struct wv_received *in);

/* The connection of @c is about to end. */
void wv_service_client_end(struct wv_client *c);
