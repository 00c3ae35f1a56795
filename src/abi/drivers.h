/*
 * Which user-space provider library drives a device of which kernel driver.
 */
#pragma once

#include <stdint.h>

#define WV_NO_DRIVER 0u /* RDMA_DRIVER_UNKNOWN */

/* The provider's name in rdma-core ("mlx5"), or NULL. */
const char *wv_provider_name(uint32_t driver_id);

/*
 * The enum rdma_driver_id of a device by the name of the kernel module's driver that its parent is
 * bound to ("mlx5_core"), WV_NO_DRIVER if it does not tell.
 */
uint32_t wv_driver_of_parent(const char *name);
