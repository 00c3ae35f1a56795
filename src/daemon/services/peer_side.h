/* SPDX-License-Identifier: BSD-2-Clause */
/* What the daemons of other nodes say of connections of which one end is there. */
#pragma once

#include "daemon/services/service_state.h"

/* @peer is up; it is not any more; or it has sent the body of a message about services. */
void wv_services_peer_up(struct wv_services *s, struct wv_peer *peer);
void wv_services_peer_down(struct wv_services *s, struct wv_peer *peer);
int wv_services_message(struct wv_services *s, struct wv_peer *peer, const void *body,
			size_t length);
