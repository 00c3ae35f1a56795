/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/seen_devices.h"

#include "abi/drivers.h"
#include "base/base.h"
#include "cli/doctor/small_file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#define CLASS "class/infiniband_verbs"

/* Software devices have no parent with a driver. */
static uint32_t driver_of_parent(const char *sysfs, const char *node)
{
	char link[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t got;

	snprintf(link, sizeof(link), "%s/" CLASS "/%s/device/driver", sysfs, node);
	got = readlink(link, target, sizeof(target) - 1);
	target[got > 0 ? got : 0] = '\0';
	base = strrchr(target, '/');
	return wv_driver_of_parent(base ? base + 1 : target);
}

static bool read_device(const char *sysfs, const char *node, struct wv_seen_device *device)
{
	unsigned int major, minor;
	char dev[32];

	*device = (struct wv_seen_device){0};
	if (!wv_copy_string(device->node, sizeof(device->node), node) ||
	    !wv_read_line(device->ibdev, sizeof(device->ibdev), "%s/" CLASS "/%s/ibdev", sysfs,
			  node) ||
	    !wv_read_line(dev, sizeof(dev), "%s/" CLASS "/%s/dev", sysfs, node) ||
	    sscanf(dev, "%u:%u", &major, &minor) != 2)
		return false;
	/* It is a part of paths; the kernel allows neither. */
	if (!*device->ibdev || strchr(device->ibdev, '/') || *device->ibdev == '.')
		return false;
	device->rdev = makedev(major, minor);
	device->driver_id = driver_of_parent(sysfs, node);
	return true;
}

static int is_uverbs(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "uverbs", strlen("uverbs"));
}

const char *wv_seen_sysfs(void)
{
	const char *path = getenv("SYSFS_PATH");

	return path && *path ? path : "/sys";
}

unsigned int wv_see_devices(const char *sysfs, struct wv_seen_device devices[static WV_MAX_DEVICES])
{
	struct dirent **entries = NULL;
	unsigned int n = 0;
	char path[PATH_MAX];
	int n_entries;

	snprintf(path, sizeof(path), "%s/" CLASS, sysfs);
	n_entries = scandir(path, &entries, is_uverbs, versionsort);
	for (int i = 0; i < n_entries; i++) {
		if (n < WV_MAX_DEVICES && read_device(sysfs, entries[i]->d_name, &devices[n]))
			n++;
		free(entries[i]);
	}
	free(entries);
	return n;
}

json_t *wv_seen_device_status(json_t *status, const struct wv_seen_device *device)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(status, "devices"), i, entry) {
		const char *name = json_string_value(json_object_get(entry, "name"));

		if (name && !strcmp(name, device->ibdev))
			return entry;
	}
	return NULL;
}

const char *wv_seen_device_driver(json_t *status, const struct wv_seen_device *device)
{
	json_t *said = wv_seen_device_status(status, device);

	return json_string_value(json_object_get(said, "driver"))
		   ?: wv_provider_name(device->driver_id);
}
