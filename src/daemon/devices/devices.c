/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/devices.h"

#include "abi/drivers.h"
#include "base/base.h"
#include "base/log.h"
#include "daemon/devices/leasable.h"
#include "daemon/devices/netlink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define CLASS "class/infiniband_verbs"

const char *wv_sysfs(void)
{
	const char *path = secure_getenv("SYSFS_PATH");

	return path && *path ? path : "/sys";
}

int wv_sysfs_read(int dir, const char *path, char *text, size_t capacity)
{
	wv_auto_fd fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, capacity - 1);

	if (got < 0)
		return -errno;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

/* Reads @file of the device @name. */
static int read_line(int dir, const char *name, const char *file, char *text, size_t capacity)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", name, file);
	return wv_sysfs_read(dir, path, text, capacity);
}

/* The driver according to the parent device, for devices whose driver netlink does not tell. */
static uint32_t driver_of_parent(int dir, const char *name)
{
	char link[128], target[PATH_MAX];
	const char *base;
	ssize_t got;

	snprintf(link, sizeof(link), "%s/device/driver", name);
	got = readlinkat(dir, link, target, sizeof(target) - 1);
	if (got < 0)
		return WV_NO_DRIVER;
	target[got] = '\0';
	base = strrchr(target, '/');
	return wv_driver_of_parent(base ? base + 1 : target);
}

static uint32_t find_driver(int dir, const char *name, const struct wv_chardev *known, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(known[i].name, name) && known[i].driver_id != WV_NO_DRIVER)
			return known[i].driver_id;
	return driver_of_parent(dir, name);
}

/*
 * Looks for libNAME-rdmavN.so. N is the ABI between libibverbs and its providers; the last counts.
 */
static void find_provider(struct wv_device *device, const char *provider_dir)
{
	const char *name = wv_provider_name(device->driver_id);
	char pattern[PATH_MAX];
	const char *last;
	glob_t found;

	if (!name)
		return;
	snprintf(pattern, sizeof(pattern), "%s/lib%s-rdmav*.so", provider_dir, name);
	if (glob(pattern, 0, NULL, &found)) {
		wv_log(WV_WARNING, "%s: no %s: install the provider, or correct --provider-dir",
		       device->ibdev, pattern);
		return;
	}
	last = found.gl_pathv[found.gl_pathc - 1];
	if (strlen(last) < sizeof(device->provider))
		strcpy(device->provider, last);
	globfree(&found);
}

/*
 * When a device is removed, its node vanishes a little earlier than its entry in sysfs; when it
 * comes, the entry appears first. The device exists while both do.
 */
static bool has_node(const struct wv_device *device)
{
	struct stat st;

	return !stat(device->node, &st) && S_ISCHR(st.st_mode) && st.st_rdev == device->rdev;
}

/* 0; -ENODEV: there is no such device now; or another -errno. */
static int read_device(int dir, const char *name, struct wv_device *device)
{
	char text[32];
	unsigned int major, minor;
	int err;

	*device = (struct wv_device){.driver_id = WV_NO_DRIVER};
	if (strlen(name) >= sizeof(device->name))
		return -ENAMETOOLONG;
	strcpy(device->name, name);
	snprintf(device->node, sizeof(device->node), WV_NODE_DIR "/%s", name);
	err = read_line(dir, name, "ibdev", device->ibdev, sizeof(device->ibdev));
	if (!err)
		err = read_line(dir, name, "dev", text, sizeof(text));
	if (err)
		return err;
	if (sscanf(text, "%u:%u", &major, &minor) != 2)
		return -ENODEV;
	device->rdev = makedev(major, minor);
	return has_node(device) ? 0 : -ENODEV;
}

/* Whether one of the patterns, with commas between them, is of that RDMA device. */
static bool is_wanted(const char *patterns, const char *ibdev)
{
	char pattern[NAME_MAX + 1];
	size_t length;

	for (;; patterns += length + 1) {
		length = strcspn(patterns, ",");
		snprintf(pattern, sizeof(pattern), "%.*s", (int)length, patterns);
		if (!fnmatch(pattern, ibdev, 0))
			return true;
		if (!patterns[length])
			return false;
	}
}

/* A scan in progress. */
struct scan {
	struct wv_devices *found;
	struct wv_devices before; /* found by the previous scan */
	const struct wv_scan_options *options;
	const char *sysfs;
};

/* A device whose driver is that one, and which the driver decides about. */
static const struct wv_device *of_driver(const struct scan *scan, const struct wv_devices *devices,
					 uint32_t driver_id)
{
	for (unsigned int i = 0; i < devices->n; i++)
		if (devices->all[i].driver_id == driver_id &&
		    is_wanted(scan->options->wanted, devices->all[i].ibdev))
			return &devices->all[i];
	return NULL;
}

/*
 * The kernel takes a while to tell, so it is asked once. Its answer is kept for as long as there is
 * a device of the driver, since a driver with devices cannot be replaced.
 */
static void decide_by_driver(const struct scan *scan, struct wv_device *device)
{
	const struct wv_device *other = of_driver(scan, &scan->before, device->driver_id);

	if (!other)
		other = of_driver(scan, scan->found, device->driver_id);
	if (other) {
		device->leasable = other->leasable;
		device->remedy = other->remedy;
		memcpy(device->unleased_because, other->unleased_because,
		       sizeof(device->unleased_because));
		return;
	}
	device->leasable = wv_driver_is_leasable(
	    device->driver_id, scan->sysfs, scan->options->trust_kernel, device->unleased_because,
	    sizeof(device->unleased_because), &device->remedy);
	if (device->remedy)
		wv_log(WV_WARNING, "%s is not leased: %s: %s", device->ibdev,
		       device->unleased_because, device->remedy);
}

static void decide_leasing(const struct scan *scan, struct wv_device *device)
{
	if (is_wanted(scan->options->wanted, device->ibdev)) {
		decide_by_driver(scan, device);
		return;
	}
	snprintf(device->unleased_because, sizeof(device->unleased_because),
		 "the option devices leaves it out");
	device->remedy = "name it in the option devices of warmverbsd.conf, and as root: "
			 "systemctl restart warmverbsd";
}

/* The next device after @n that were found; NULL: there is none, or no room for it. */
static struct dirent *next_entry(DIR *stream, unsigned int n)
{
	struct dirent *entry;

	do
		entry = readdir(stream);
	while (entry && strncmp(entry->d_name, "uverbs", strlen("uverbs")));
	if (!entry || n < WV_MAX_DEVICES)
		return entry;
	wv_log(WV_WARNING, "this node has more than %u RDMA devices: %s and others are not leased",
	       WV_MAX_DEVICES, entry->d_name);
	return NULL;
}

/* Whether @err says nothing about a device, only about this process or the node. */
static bool is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* Reads the directory. 0 or -errno. */
static int read_class(struct scan *scan, DIR *stream)
{
	struct wv_chardev known[WV_MAX_DEVICES];
	int n_known = wv_netlink_chardevs(known, WV_MAX_DEVICES);
	struct wv_devices *devices = scan->found;
	struct dirent *entry;

	if (n_known < 0)
		wv_log(WV_NOTICE, "RDMA netlink does not answer: %s", strerror(-n_known));
	while ((entry = next_entry(stream, devices->n))) {
		struct wv_device *device = &devices->all[devices->n];
		int err = read_device(dirfd(stream), entry->d_name, device);

		if (is_shortage(err))
			return err;
		if (err)
			continue;
		device->driver_id = find_driver(dirfd(stream), device->name, known, n_known);
		decide_leasing(scan, device);
		find_provider(device, scan->options->provider_dir);
		devices->n++;
	}
	return 0;
}

static DIR *open_class(const char *sysfs)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" CLASS, sysfs) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return opendir(path);
}

int wv_devices_scan(struct wv_devices *devices, const struct wv_scan_options *options)
{
	struct scan scan = {
	    .found = devices,
	    .before = *devices,
	    .options = options,
	    .sysfs = wv_sysfs(),
	};
	DIR *stream = open_class(scan.sysfs);
	int err;

	if (!stream && errno != ENOENT)
		return -errno;
	devices->n = 0;
	if (!stream)
		return 0;
	err = read_class(&scan, stream);
	closedir(stream);
	if (err)
		*devices = scan.before;
	return err;
}

const struct wv_device *wv_devices_by_rdev(const struct wv_devices *devices, dev_t rdev)
{
	for (unsigned int i = 0; i < devices->n; i++)
		if (devices->all[i].rdev == rdev)
			return &devices->all[i];
	return NULL;
}

const struct wv_device *wv_devices_by_name(const struct wv_devices *devices, const char *name)
{
	for (unsigned int i = 0; i < devices->n; i++)
		if (!strcmp(devices->all[i].name, name))
			return &devices->all[i];
	return NULL;
}

const struct wv_device *wv_devices_by_ibdev(const struct wv_devices *devices, const char *ibdev)
{
	for (unsigned int i = 0; i < devices->n; i++)
		if (!strcmp(devices->all[i].ibdev, ibdev))
			return &devices->all[i];
	return NULL;
}
