/* SPDX-License-Identifier: BSD-2-Clause */
/* The GIDs of a device, as sysfs lists them. */
#pragma once

#include <stdint.h>

/* The GID number @index of @port of the RDMA device @ibdev. 0 or -errno. */
int wv_gid_read(const char *ibdev, unsigned int port, unsigned int index, uint8_t gid[16]);
