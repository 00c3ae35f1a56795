/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the node: its kernel, its RDMA devices, and whether this process is in a container. */
#pragma once

#include "cli/doctor/findings.h"

/* The kernel's release, and what surrounds this process. */
void wv_check_kernel(struct wv_doctor *d);

/* That there are devices, and that this user may open them. */
void wv_check_devices(struct wv_doctor *d);

/* That their ports are up and have an address. */
void wv_check_ports(struct wv_doctor *d);
