/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pool requests: a program asks that a given number of leases be kept for programs started like
 * itself. A pool request stands as long as its connection, so the kernel ends it with the program.
 * Of several pool requests the largest counts, not the sum: each says how many programs start
 * together.
 */
#pragma once

#include "daemon/ipc/client.h"

#define WV_MAX_POOL_REQUESTS_PER_TENANT 64

/* Notes or changes the client's pool request, and answers a WV_MSG_POOL with its state. */
enum wv_client_next wv_handle_pool(struct wv_client *c, const struct wv_received *in);

/* The connection of @c ends, and its pool request, if it has one, with it. */
void wv_pool_request_end(struct wv_client *c);

/* How many leases of @recipe programs have requested; 0: nobody did. */
uint32_t wv_pool_requested(const struct wv_service *s, const struct wv_recipe *recipe);
