/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program tells after it was answered: its recording, or how well the lease fitted.
 */
#pragma once

#include "daemon/ipc/client.h"

/* Makes a recipe of a WV_MSG_RECORD and keeps it, in place of the one the client sent before. */
enum wv_client_next wv_handle_record(struct wv_client *c, const struct wv_received *in);

/* Counts what a WV_MSG_REPORT says of the lease's recipe beyond what the one before it said. */
enum wv_client_next wv_handle_report(struct wv_client *c, const struct wv_received *in);

/*
 * The connection of a client with a lease ended, without a last report. If there was none at all,
 * and it ended soon after the lease was handed out, the lease did not fit.
 */
void wv_handle_end(struct wv_client *c);
