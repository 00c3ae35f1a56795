/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peers that this node knows: those of the configuration, and a bounded number of others.
 */
#pragma once

#include "daemon/peers/peer.h"

/* The rows of the configuration that say which nodes are behind which GIDs. */
struct wv_gid_rows {
	struct wv_gid_row *all;
	size_t n;
};

struct wv_peer_table {
	struct wv_gid_rows gids;
	struct wv_peer_list all; /* those of the configuration first */
	unsigned int n, most;
};

/* An empty table for at most @most peers. */
void wv_peer_table_init(struct wv_peer_table *t, unsigned int most);

/*
 * Adds a peer, which is the table's. If there is no room, a peer that nobody has asked for since
 * @patience_us makes room, unless it is configured, up or being dialled. NULL: there is no room, or
 * no memory.
 */
struct wv_peer *wv_peer_table_add(struct wv_peer_table *t, const struct wv_node_address *node,
				  int64_t now_us, int64_t patience_us);

/* Removes and frees @peer, which has no connection and no work. */
void wv_peer_table_remove(struct wv_peer_table *t, struct wv_peer *peer);

/* Frees all peers; none has a connection or a work any more. */
void wv_peer_table_finish(struct wv_peer_table *t);

/* The peer that has @ip, or that the configuration calls @node; or NULL. */
struct wv_peer *wv_peer_by_ip(const struct wv_peer_table *t, const struct in6_addr *ip);
struct wv_peer *wv_peer_by_node(const struct wv_peer_table *t, const struct wv_node_address *node);

/* Reads @text. 0; or -ENOMEM. The caller frees rows->all. */
int wv_gid_rows_read(struct wv_gid_rows *rows, const char *text);

/*
 * Which node is behind @gid: by @rows, else the IP address that the GID of a RoCE port is. False:
 * nobody knows.
 */
bool wv_node_of_gid(const struct wv_gid_rows *rows, const uint8_t gid[static 16],
		    struct wv_node_address *node);

/* Whether @gid is known to be of this node. */
bool wv_peer_table_has_self(const struct wv_peer_table *t, const uint8_t gid[static 16]);
