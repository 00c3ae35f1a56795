/* SPDX-License-Identifier: BSD-2-Clause */
/* What clients of this node ask for: passed on to a service of this node, or to another node. */
#pragma once

#include "daemon/services/service_state.h"

/* Passes the question of @conn on, if what it waits for is there; or refuses it. */
void wv_conn_pass_on(struct wv_services *s, struct wv_service_conn *conn);
