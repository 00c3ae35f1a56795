/* SPDX-License-Identifier: BSD-2-Clause */
/* What the program is to know, or says, of the connections of an offer. */
#pragma once

#include "service/offer_state.h"

/* @conn has come, or its client has left: the program is to know. With the lock. */
void wv_offer_announce(struct wv_offer *offer, struct wv_service_conn_end *conn,
		       enum wv_service_event_type event);

/* Frees @conn, which the program does not have, but for its queue pair. With the lock. */
void wv_offer_forget(struct wv_offer *offer, struct wv_service_conn_end *conn);

/* Frees @end, which the program has ended; the daemon is told as soon as it reads. */
void wv_offer_leave(struct wv_service_conn_end *end);
