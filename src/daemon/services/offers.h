/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that there are, and who may use them. */
#pragma once

#include "daemon/services/service_state.h"

/*
 * The service that @ask names, if its client may use it: a process of user *@uid of this node, or,
 * if that is NULL, one of ask->client_user on another. NULL: there is none.
 */
struct wv_service_process *wv_service_find(const struct wv_services *s,
					   const struct wv_service_note *ask, const uid_t *uid);

/*
 * Asks @service for its end of @conn, whose client, or peer, is set. 0; -EBUSY: it does not read,
 * or is asked too often; -ENOBUFS: it has too many clients; or -errno.
 */
int wv_service_ask(struct wv_services *s, struct wv_service_process *service,
		   struct wv_service_conn *conn, const struct wv_service_note *ask);

/* Whether @tenant may have one connection more. */
bool wv_service_has_room(const struct wv_services *s, const struct wv_tenant *tenant);
