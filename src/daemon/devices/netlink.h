/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the RDMA subsystem for its devices over netlink, which needs no privilege.
 */
#pragma once

#include <stdint.h>

struct wv_chardev {
	char name[32];	    /* "uverbs0" */
	uint32_t driver_id; /* enum rdma_driver_id; WV_NO_DRIVER: the driver does not tell */
};

/*
 * Lists the uverbs nodes of all devices that this network namespace may use in @devices, which has
 * room for @capacity. How many there are, or -errno.
 */
int wv_netlink_chardevs(struct wv_chardev *devices, unsigned int capacity);
