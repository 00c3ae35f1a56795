/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests for a lease.
 */
#pragma once

#include "daemon/ipc/client.h"

/*
 * Answers a WV_MSG_REQUEST with a lease, or with the reason why there is none: the program is to
 * record, say.
 */
enum wv_client_next wv_handle_request(struct wv_client *c, const struct wv_received *in);
