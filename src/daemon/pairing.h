/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs across nodes: both ends of pairs, connected with each other and with the peers.
 */
#pragma once

#include "daemon/devices/addresses.h"
#include "daemon/ipc/service.h"
#include "daemon/pairs/keepers.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/pair_table.h"
#include "daemon/pairs/user_names.h"
#include "daemon/peers/peers.h"

struct wv_pairing {
	struct wv_peers peers;
	struct wv_errands errands; /* of the names */
	struct wv_user_names names;
	struct wv_pair_links links;
	struct wv_keepers keepers;
	struct wv_pairs pairs;
	struct wv_addresses addresses;
};

/* Prepares @p, and tells @service of it. @issue: how commands reach the kernel. */
void wv_pairing_compose(struct wv_pairing *p, const struct wv_config *config,
			struct wv_service *service, wv_issue_fn issue);

/* Starts what the configuration says. 0 or -errno. */
int wv_pairing_start(struct wv_pairing *p);

/* Harmless if it was not started. */
void wv_pairing_stop(struct wv_pairing *p);
