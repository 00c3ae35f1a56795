/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "hca.h"

/*
 * -EINVAL if @attr is not an address that this port could send to. @global: a GID is required, as
 * Ethernet requires one of every QP with a peer.
 */
int hca_check_address(const struct ibv_ah_attr *attr, bool global);
