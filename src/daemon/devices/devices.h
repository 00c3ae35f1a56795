/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The RDMA devices of the node.
 */
#pragma once

#include "wire/wire.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WV_NODE_DIR "/dev/infiniband"

/*
 * Where sysfs is: the environment variable SYSFS_PATH, where libibverbs looks, too, unless it is
 * empty or this process was given privileges by its file; or else /sys. Valid as long as the
 * environment.
 */
const char *wv_sysfs(void);

/* Reads the first line of a file of sysfs, of which @path is relative to @dir. 0 or -errno. */
int wv_sysfs_read(int dir, const char *path, char *text, size_t capacity);

struct wv_device {
	char name[32];	/* of the node: "uverbs0" */
	char ibdev[64]; /* name of the RDMA device */
	char node[64];	/* path of the device node */
	dev_t rdev;
	uint32_t driver_id;	    /* enum rdma_driver_id, or WV_NO_DRIVER */
	char provider[256];	    /* path of the library; empty: not found */
	bool leasable;		    /* leases can be made of it (leasable.h) */
	char unleased_because[256]; /* the reason if not */
	const char *remedy;	    /* what to do about that; NULL: nothing */
};

struct wv_devices {
	struct wv_device all[WV_MAX_DEVICES];
	unsigned int n;
};

struct wv_scan_options {
	const char *provider_dir; /* where libibverbs has its providers */
	const char *wanted; /* RDMA devices to lease: patterns of fnmatch(3), between commas */
	bool trust_kernel;  /* as of wv_driver_is_leasable() */
};

/*
 * Replaces *@devices by the devices that there are now, as sysfs lists them. *@devices is zeroed
 * before the first scan. 0; or -errno, and *@devices is as before. A node without RDMA has no
 * devices, which is no error.
 */
int wv_devices_scan(struct wv_devices *devices, const struct wv_scan_options *options);

typedef int (*wv_scan_fn)(struct wv_devices *devices, const struct wv_scan_options *options);

/* The device of that number, node name or RDMA name; NULL if there is none. */
const struct wv_device *wv_devices_by_rdev(const struct wv_devices *devices, dev_t rdev);
const struct wv_device *wv_devices_by_name(const struct wv_devices *devices, const char *name);
const struct wv_device *wv_devices_by_ibdev(const struct wv_devices *devices, const char *ibdev);
