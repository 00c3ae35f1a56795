/* SPDX-License-Identifier: BSD-2-Clause */
/* Where nodes and ports are. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* A port of this process's device, as a connection needs to know it. */
struct wv_service_port {
	uint8_t number;
	bool is_ethernet;
	uint8_t mtu; /* enum ibv_mtu */
	uint16_t lid;
	/* From where a peer is reached: */
	uint8_t gid_index;
	union ibv_gid gid;
	bool has_peer; /* the device has the peer's GID */
};

/*
 * The GID by which @node is known: an address, a GID, or a name, which is looked up. All zeros if
 * it is this node: NULL, or an address of the loopback device. 0; -EINVAL; or -EAGAIN: the name
 * cannot be looked up now.
 */
int wv_service_node(const char *node, union ibv_gid *gid);

/* Fills in *@port but for the last three. 0 or -errno. */
int wv_service_port_init(struct ibv_context *context, uint8_t number, struct wv_service_port *port);

/*
 * Chooses the GID of @port from which a port with the GID @peer is reached: one of the same kind,
 * RoCE v2 before others, and of those the one that has most in common with it. @peer of all zeros:
 * any. 0; -EADDRNOTAVAIL if it has none; or -errno.
 */
int wv_service_port_aim(struct ibv_context *context, const union ibv_gid *peer,
			struct wv_service_port *port);
