/* SPDX-License-Identifier: BSD-2-Clause */
/* The GIDs of devices, as sysfs lists them, and those that were read lately. */
#pragma once

#include <stdint.h>

#define WV_GIDS_KEPT 32

struct wv_known_gid {
	char ibdev[64];
	unsigned int port, index;
	int64_t read_us; /* 0: unused */
	uint8_t gid[16];
};

/* Zeroed at first. */
struct wv_gids {
	struct wv_known_gid all[WV_GIDS_KEPT]; /* a ring */
	unsigned int n;
};

/*
 * The GID number @index of @port of the RDMA device @ibdev, as it is at @now_us or was not long
 * ago. 0 or -errno.
 */
int wv_gid_find(struct wv_gids *gids, const char *ibdev, unsigned int port, unsigned int index,
		int64_t now_us, uint8_t gid[16]);

/* Some GID may have changed: all are read again. */
void wv_gids_forget(struct wv_gids *gids);
