#pragma once

#include "hca.h"

/*
 * -EINVAL if @attr is not an address that this port could send to. @global: there must be a GID,
 * which on Ethernet is so for whatever has one peer.
 */
int hca_check_address(const struct ibv_ah_attr *attr, bool global);
