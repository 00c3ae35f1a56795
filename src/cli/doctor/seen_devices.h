/* SPDX-License-Identifier: BSD-2-Clause */
/* The RDMA devices of the node, as sysfs has them. */
#pragma once

#include "wire/wire.h"

#include <jansson.h>

struct wv_seen_device {
	char node[32];	/* "uverbs0" */
	char ibdev[64]; /* name of the RDMA device */
	dev_t rdev;
	uint32_t driver_id; /* WV_NO_DRIVER: sysfs does not tell */
};

/* Where sysfs is: where libibverbs looks for it, too. */
const char *wv_seen_sysfs(void);

/* Fills in the devices of @sysfs. Returns how many. */
unsigned int wv_see_devices(const char *sysfs,
			    struct wv_seen_device devices[static WV_MAX_DEVICES]);

/* What the daemon's @status says of the device; NULL: nothing, or there is no answer. */
json_t *wv_seen_device_status(json_t *status, const struct wv_seen_device *device);

/* The name of its provider, which the daemon or sysfs tells; NULL: neither does. */
const char *wv_seen_device_driver(json_t *status, const struct wv_seen_device *device);
