/* SPDX-License-Identifier: BSD-2-Clause */
/* What clients say of pairs: programs with leases, and servers that keep spares. */
#pragma once

#include "daemon/ipc/client.h"

enum wv_client_next wv_handle_connected(struct wv_client *c, const struct wv_received *in);
enum wv_client_next wv_handle_stays(struct wv_client *c, const struct wv_received *in);
enum wv_client_next wv_handle_keeper(struct wv_client *c, const struct wv_received *in);

/* The connection @c ends. */
void wv_pair_client_end(struct wv_client *c);
