/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the daemon: whether this user reaches it, what it has for this user, and its peers. */
#pragma once

#include "cli/doctor/findings.h"

/* That the socket is there, and whom it lets connect. */
void wv_check_socket(struct wv_doctor *d);

/* That the daemon answers, and is of this version. */
void wv_check_answer(struct wv_doctor *d);

/* That programs find the daemon's list of providers, and trust it. */
void wv_check_provider_list(struct wv_doctor *d);

/* That the daemon knows the devices of the node, and leases them. */
void wv_check_leasing(struct wv_doctor *d);

/* That there are recipes of this user, and leases. */
void wv_check_recipes(struct wv_doctor *d);

/* That it reaches the daemons of the nodes that its configuration names. */
void wv_check_peers(struct wv_doctor *d);
