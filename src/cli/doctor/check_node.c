/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/check_node.h"

#include "abi/drivers.h"
#include "base/base.h"
#include "cli/doctor/accounts.h"
#include "cli/doctor/small_file.h"
#include "cli/doctor/surroundings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#define NODES "/dev/infiniband"

void wv_check_kernel(struct wv_doctor *d)
{
	bool filtered = wv_own_status(d->root, "Seccomp", 10, 0) == 2;
	struct utsname name = {0};

	uname(&name);
	wv_found(d, WV_MARK_OK, "Linux %s%s%s", name.release,
		 d->in_container ? ", in a container or user namespace" : "",
		 filtered ? ", with a seccomp filter" : "");
}

/* A network device that is up; "NETDEV" if there is none whose name a shell takes as it is. */
static void find_netdev(const struct wv_doctor *d, char *name, size_t capacity)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	snprintf(name, capacity, "NETDEV");
	snprintf(path, sizeof(path), "%s/class/net", d->sysfs);
	folder = opendir(path);
	if (!folder)
		return;
	for (unsigned int i = 0; i < WV_MAX_ENTRIES && (entry = readdir(folder)); i++) {
		const char *other = entry->d_name;
		char state[16];

		if (!other[strspn(other, "abcdefghijklmnopqrstuvwxyz0123456789")] &&
		    wv_read_line(state, sizeof(state), "%s/%s/operstate", path, other) &&
		    !strcmp(state, "up") && wv_copy_string(name, capacity, other))
			break;
	}
	closedir(folder);
}

/* The kernel module for an adapter that the node has; NULL: there is no known adapter. */
static const char *module_of_adapter(const struct wv_doctor *d)
{
	const char *module = NULL;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/bus/pci/devices", d->sysfs);
	folder = opendir(path);
	if (!folder)
		return NULL;
	for (unsigned int i = 0; i < WV_MAX_ENTRIES && !module && (entry = readdir(folder)); i++) {
		char vendor[16];

		if (wv_read_line(vendor, sizeof(vendor), "%s/%s/vendor", path, entry->d_name))
			module = wv_module_of_vendor(vendor);
	}
	closedir(folder);
	return module;
}

static void no_device(struct wv_doctor *d)
{
	const char *module = module_of_adapter(d);
	char netdev[32], command[128];

	wv_found(d, WV_MARK_FAIL, "there is no RDMA device%s",
		 d->netns_exclusive ? " in this network namespace" : "");
	find_netdev(d, netdev, sizeof(netdev));
	wv_software_device(netdev, command, sizeof(command));
	if (d->netns_exclusive)
		wv_remedy(d, "as root, where the device is: rdma dev set DEVICE netns NAMESPACE");
	else if (module)
		wv_remedy(d, "%smodprobe -a %s ib_uverbs", wv_as_root(), module);
	else
		wv_remedy(d, "to try warmverbs without an adapter, %s%s", wv_as_root(), command);
}

/* The node's permissions keep this user out. */
static void not_permitted(struct wv_doctor *d, const struct wv_seen_device *device,
			  const char *node, const struct stat *st)
{
	char group[WV_ACCOUNT_MAX], user[WV_ACCOUNT_MAX];

	wv_found(d, WV_MARK_FAIL, "%s: this user may not open %s (mode %04o, group %s)",
		 device->ibdev, node, st->st_mode & 07777, wv_group_name(st->st_gid, group));
	if (!(st->st_mode & S_IWGRP))
		wv_remedy(d, "as root: setfacl -m u:%s:rw %s; for good, write a udev rule",
			  wv_own_user(user), node);
	else if (d->in_container)
		wv_remedy(d,
			  "start the container with --group-add %u (podman: --group-add "
			  "keep-groups)",
			  st->st_gid);
	else
		wv_remedy(d, "as root: usermod -aG %s %s, then log in again", group,
			  wv_own_user(user));
}

/* The node cannot be opened, by errno; @st are its permissions. */
static void refused(struct wv_doctor *d, const struct wv_seen_device *device, const char *node,
		    const struct stat *st, int err)
{
	if (err == EACCES) {
		not_permitted(d, device, node, st);
		return;
	}
	wv_found(d, WV_MARK_FAIL, "%s: %s cannot be opened: %s", device->ibdev, node,
		 strerror(err));
	if (err == EPERM)
		wv_remedy(d,
			  "the devices cgroup forbids it: start the container with --device "
			  "warmverbs/rdma=all, or set DeviceAllow=char-infiniband_verbs rw in the "
			  "unit");
	else
		wv_remedy(d, "see the kernel's log: journalctl -k");
}

static void no_node(struct wv_doctor *d, const struct wv_seen_device *device, const char *node)
{
	wv_found(d, WV_MARK_FAIL, "%s: there is no %s, or it is not the device's", device->ibdev,
		 node);
	if (d->in_container)
		wv_remedy(d, WV_CONTAINER_REMEDY);
	else
		wv_remedy(d, "%smodprobe ib_uverbs && udevadm trigger", wv_as_root());
}

/* Opening tells more than permissions do: control groups and security modules forbid it, too. */
static void check_device_node(struct wv_doctor *d, const struct wv_seen_device *device)
{
	const char *driver = wv_seen_device_driver(d->status, device);
	wv_auto_fd fd = -1;
	char node[128];
	struct stat st;

	snprintf(node, sizeof(node), NODES "/%s", device->node);
	if (stat(node, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != device->rdev) {
		no_node(d, device, node);
		return;
	}
	fd = open(node, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		refused(d, device, node, &st, errno);
	else
		wv_found(d, WV_MARK_OK, "%s%s%s, %s opens", device->ibdev, driver ? ": " : "",
			 driver ?: "", node);
}

void wv_check_devices(struct wv_doctor *d)
{
	if (!d->n_devices)
		no_device(d);
	for (unsigned int i = 0; i < d->n_devices; i++)
		check_device_node(d, &d->devices[i]);
}

/* An entry of the table that is not in use is all zeros, or cannot be read. */
static bool has_gid(const struct wv_doctor *d, const char *ibdev, unsigned int port)
{
	char gid[64];

	for (unsigned int i = 0; i < 256; i++) {
		if (!wv_read_line(gid, sizeof(gid), "%s/class/infiniband/%s/ports/%u/gids/%u",
				  d->sysfs, ibdev, port, i) &&
		    i == 0)
			return false;
		if (gid[strspn(gid, "0:")])
			return true;
	}
	return false;
}

/* False: there is no such port. */
static bool check_port(struct wv_doctor *d, const char *ibdev, unsigned int port)
{
	char state[64], layer[64];

	if (!wv_read_line(state, sizeof(state), "%s/class/infiniband/%s/ports/%u/state", d->sysfs,
			  ibdev, port))
		return false;
	wv_read_line(layer, sizeof(layer), "%s/class/infiniband/%s/ports/%u/link_layer", d->sysfs,
		     ibdev, port);
	if (!strstr(state, "ACTIVE")) {
		wv_found(d, WV_MARK_NOTE, "%s port %u is %s", ibdev, port, state);
		wv_remedy(d, "%s",
			  strcmp(layer, "InfiniBand") != 0
			      ? "set the link of its network device up: ip link set NETDEV up"
			      : "check the cable, and that a subnet manager runs: sminfo");
	} else if (!has_gid(d, ibdev, port)) {
		wv_found(d, WV_MARK_NOTE, "%s port %u has no address (GID)", ibdev, port);
		wv_remedy(d, "give its network device an address: ip addr add ADDRESS dev NETDEV");
	}
	return true;
}

void wv_check_ports(struct wv_doctor *d)
{
	unsigned int before = d->n_findings, ports = 0;

	for (unsigned int i = 0; i < d->n_devices; i++)
		for (unsigned int port = 1; port < 256 && check_port(d, d->devices[i].ibdev, port);
		     port++)
			ports++;
	if (d->n_findings == before && ports)
		wv_found(d, WV_MARK_OK, "%u active, with an address", ports);
}
