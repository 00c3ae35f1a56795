/* SPDX-License-Identifier: BSD-2-Clause */
/* How the RDMA subsystem treats network namespaces. */
#pragma once

#include <stdbool.h>

/*
 * Whether each RDMA device belongs to one network namespace, instead of being shared by all
 * (rdma-system(8)). Asks the kernel over netlink, which needs no privilege. False also if the
 * kernel does not tell.
 */
bool wv_netns_is_exclusive(void);
