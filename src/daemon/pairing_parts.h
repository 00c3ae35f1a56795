/* SPDX-License-Identifier: BSD-2-Clause */
/* Of what pairs and peers consist. */
#pragma once

#include "daemon/pairs/pair_state.h"

struct wv_pairing {
	struct wv_peers peers;
	struct wv_pairs pairs;
};
