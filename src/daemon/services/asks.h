/* SPDX-License-Identifier: BSD-2-Clause */
/* What clients of this node ask for: passed on to a service of this node, or to another node. */
#pragma once

#include "daemon/services/service_state.h"

/* A client asks for a connection. */
void wv_ask_begin(struct wv_services *s, struct wv_service_process *client,
		  const struct wv_service_note *ask);

/* Passes on what waited for the name of a user, or for another node. Whether anything is left. */
bool wv_asks_pass_on(struct wv_services *s);
