/*
 * What the RDMA subsystem says of its devices over netlink. Needs no privilege.
 */
#pragma once

#include <stdint.h>

struct wv_chardev {
	char name[32]; /* "uverbs0" */
	uint32_t
	    driver_id; /* enum rdma_driver_id; WV_NO_DRIVER where the driver keeps it to itself */
};

/*
 * The uverbs nodes of all devices that this network namespace may use, in @devices. Returns how
 * many, or -errno.
 */
int wv_netlink_chardevs(struct wv_chardev *devices, unsigned int capacity);
