/* SPDX-License-Identifier: BSD-2-Clause */
/* Of what pairs and peers consist. */
#pragma once

#include "daemon/devices/addresses.h"
#include "daemon/pairs/keepers.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/pair_table.h"
#include "daemon/pairs/user_names.h"
#include "daemon/peers/peers.h"

struct wv_pairing {
	struct wv_peers peers;
	struct wv_user_names names;
	struct wv_pair_links links;
	struct wv_keepers keepers;
	struct wv_pairs pairs;
	struct wv_addresses addresses;
};
