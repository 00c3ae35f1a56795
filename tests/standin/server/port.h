/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port: its link, its GID table as the kernel keeps it, and what sysfs tells of both.
 */
#pragma once

#include "hca.h"

/*
 * Fills the table of a port with one IPv4 address: the link-local address and 192.0.2.<number>,
 * each for RoCE v1 and v2.
 */
void hca_address_init(struct hca *hca);

/*
 * The port loses its IPv4 address, or gets it again, and tells all contexts (IBV_EVENT_GID_CHANGE).
 * An entry that is in use is not free before its last user ends: until then, the address comes back
 * at another index. -EADDRNOTAVAIL or -EEXIST: it has none, or has it; -ENOSPC: no entry is free.
 */
int hca_address_remove(struct hca *hca);
int hca_address_add(struct hca *hca);

/*
 * -EINVAL if @attr is not an address that this port could send to. @global: a GID is required, as
 * Ethernet requires one of every QP with a peer.
 */
int hca_check_address(struct hca *hca, const struct ibv_ah_attr *attr, bool global);

/* The entry that a checked @attr names, held until it is released; NULL if @attr is not global. */
struct hca_gid *hca_gid_hold(struct hca *hca, const struct ibv_ah_attr *attr);
/* NULL is allowed. */
void hca_gid_release(struct hca_gid *gid);

/* The port's cable is pulled out or put in again; tells all contexts. */
void hca_link_set(struct hca *hca, bool up);

/* Of @number's port. */
void hca_mac(unsigned int number, uint8_t mac[6]);
