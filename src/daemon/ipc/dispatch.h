/* SPDX-License-Identifier: BSD-2-Clause */
/* Which message of a client is expected when, and who handles it. */
#pragma once

#include "daemon/ipc/client.h"

/* Handles the message @in, of @bytes as received. */
enum wv_client_next wv_dispatch(struct wv_client *c, const struct wv_received *in, size_t bytes);
