/*
 * The RDMA devices of the node, and the providers file that tells programs about them.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WV_NODE_DIR    "/dev/infiniband"
#define WV_MAX_DEVICES 64

struct wv_device {
	char name[32];	/* "uverbs0" */
	char ibdev[64]; /* "rxe0" */
	char node[64];	/* path of the device node */
	dev_t rdev;
	uint32_t driver_id; /* enum rdma_driver_id, or WV_NO_DRIVER */
	char provider[256]; /* path of the library; empty: not found */
	/* Leases can be made of it: all that its driver says is understood, and the kernel lets a
	 * program use what the daemon made. */
	bool leasable;
};

struct wv_devices {
	struct wv_device all[WV_MAX_DEVICES];
	unsigned int n;
};

/*
 * Reads what devices there are, in the sysfs that SYSFS_PATH names, unless the program runs with
 * rights that its caller does not have. @provider_dir is where libibverbs has its providers. 0 or
 * -errno; a node without RDMA has no devices, which is no error.
 */
int wv_devices_scan(struct wv_devices *devices, const char *provider_dir);

const struct wv_device *wv_devices_by_rdev(const struct wv_devices *devices, dev_t rdev);
const struct wv_device *wv_devices_by_name(const struct wv_devices *devices, const char *name);
const struct wv_device *wv_devices_by_ibdev(const struct wv_devices *devices, const char *ibdev);
