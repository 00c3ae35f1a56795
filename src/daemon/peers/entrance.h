/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where other nodes connect to this one. Anybody on the network may try, so what a stranger can
 * cost is bounded before TLS begins: who may try, how many at a time, and how often. Who connects
 * and says nothing takes no place from others: where there is none left, the oldest goes.
 */
#pragma once

#include "daemon/config/node_address.h"
#include "daemon/peers/local_end.h"
#include "daemon/peers/peer_table.h"

#include <systemd/sd-event.h>

struct wv_entrance {
	/* Set by the owner. */
	struct wv_local_end *local;
	const struct wv_peer_table *table;
	struct wv_node_address at;
	bool any; /* nodes that the configuration does not name may try */

	int fd;
	sd_event_source *source, *again;
	struct wv_allowance connections; /* of all */
	struct wv_allowance handshakes;	 /* of strangers */
	uint64_t n_turned_away;
};

/* Listens. An address that is not there yet is tried again. 0 or -errno. */
int wv_entrance_start(struct wv_entrance *e);

/*
 * Whether a handshake of @link, which was made here, may begin; it is then charged, or else ended.
 */
bool wv_entrance_allows(struct wv_entrance *e, struct wv_link *link);

/* Ends listening. Harmless if not started. */
void wv_entrance_stop(struct wv_entrance *e);
