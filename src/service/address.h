/* SPDX-License-Identifier: BSD-2-Clause */
/* Where nodes and ports are. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* A port of this process's device, as a connection needs to know it. */
struct wv_service_port {
	uint8_t number;
	uint8_t gid_index;
	bool is_ethernet;
	bool is_peer; /* the peer's port is of the same device */
	uint8_t mtu;  /* enum ibv_mtu */
	uint16_t lid;
	union ibv_gid gid;
};

/*
 * The GID by which @node is known: an address, a GID, or a name, which is looked up. All zeros if
 * it is this node: NULL, or an address of the loopback device. 0, or -EINVAL.
 */
int wv_service_node(const char *node, union ibv_gid *gid);

/*
 * The port @number of @context, and of its GIDs the one from which a port with the GID @peer is
 * reached: of the same kind, RoCE v2 before others. @peer of all zeros: any. 0; -EADDRNOTAVAIL if
 * it has none; or -errno.
 */
int wv_service_port_find(struct ibv_context *context, uint8_t number, const union ibv_gid *peer,
			 struct wv_service_port *port);
