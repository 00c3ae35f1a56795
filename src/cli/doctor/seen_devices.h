/* SPDX-License-Identifier: BSD-2-Clause */
/* The RDMA devices of the node, as sysfs has them. */
#pragma once

#include "cli/doctor/doctor_state.h"

/* Fills in the devices, at most WV_MAX_DEVICES. */
void wv_see_devices(struct wv_doctor *d);

/* What the daemon says of the device; NULL: nothing, or there is no answer. */
json_t *wv_seen_device_status(const struct wv_doctor *d, const struct wv_seen_device *device);

/* The name of its provider, which the daemon or sysfs tells; NULL: neither does. */
const char *wv_seen_device_driver(const struct wv_doctor *d, const struct wv_seen_device *device);
