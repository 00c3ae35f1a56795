/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that offer services or use them. */
#pragma once

#include "daemon/services/service_state.h"

/*
 * A process of @uid, for which @tenant is charged, speaks of services for the first time, by
 * @sock. NULL: memory is short.
 */
struct wv_service_process *wv_service_process_add(struct wv_services *s, int sock, uid_t uid,
						  const struct wv_tenant *tenant);

/* What a process says. 0; or -EPROTO if no process says such a thing. */
int wv_service_process_says(struct wv_services *s, struct wv_service_process *process,
			    const struct wv_service_note *note);

/* The process has ended, or has closed its connection to the daemon. */
void wv_service_process_remove(struct wv_services *s, struct wv_service_process *process);

/* Answers offers that waited for the name of a user. Whether any still waits. */
bool wv_service_offers_confirm(struct wv_services *s);
