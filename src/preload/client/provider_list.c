/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/provider_list.h"

#include "base/base.h"
#include "base/build_id.h"
#include "preload/core/lock.h"
#include "preload/core/settings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 16
#define DEVICE_DIR  "/dev/infiniband/"

struct device {
	char node[48]; /* path of the device node */
	char provider[192];
	bool loaded; /* if so, @id is set */
	struct wv_build_id id;
};

/* Guarded by the lock of the control path. */
static struct device *devices; /* most nodes have one: a table would cost a page fault */
static unsigned int n_devices, n_allocated;
static bool known;

/* The list is next to the socket. */
static bool list_path(char *path, size_t capacity)
{
	char *slash;

	if (!wv_copy_string(path, capacity, wv_settings()->socket))
		return false;
	slash = strrchr(path, '/');
	return slash &&
	       wv_copy_string(slash + 1, capacity - (size_t)(slash + 1 - path), WV_PROVIDERS_FILE);
}

static bool read_list(char *text, size_t capacity)
{
	char path[128];
	ssize_t got;
	int fd;

	if (!list_path(path, sizeof(path)))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, capacity - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* Makes room for one more device, and keeps the others. */
static bool make_room(void)
{
	struct device *larger;

	if (n_devices < n_allocated)
		return true;
	larger = reallocarray(devices, n_allocated + 1, sizeof(*devices));
	if (!larger)
		return false;
	larger[n_allocated++].loaded = false;
	devices = larger;
	return true;
}

/* "uverbs0 /usr/lib/.../libNAME-rdmav34.so", or "uverbs0 -" if its provider is not known. */
static void parse_line(char *line)
{
	char *path = strchr(line, ' ');
	struct device *device;

	if (!path || n_devices == MAX_DEVICES || !make_room())
		return;
	device = &devices[n_devices];
	*path++ = '\0';
	device->loaded = device->loaded && !strcmp(device->provider, path);
	memcpy(device->node, DEVICE_DIR, sizeof(DEVICE_DIR) - 1);
	if (wv_copy_string(device->node + sizeof(DEVICE_DIR) - 1,
			   sizeof(device->node) - sizeof(DEVICE_DIR) + 1, line) &&
	    wv_copy_string(device->provider, sizeof(device->provider), path))
		n_devices++;
}

/* A last line without its end is ignored. */
static void parse_list(char *text)
{
	for (char *end; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		parse_line(text);
	}
}

void wv_provider_list_read(void)
{
	char text[2048];
	bool found;

	wv_lock();
	n_devices = 0;
	found = wv_settings()->providers && read_list(text, sizeof(text));
	__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	if (found)
		parse_list(text);
	wv_unlock();
}

/* The path of the next provider that was not looked up yet; false after the last. */
static bool next_provider(unsigned int i, char *path)
{
	bool there;

	wv_lock();
	there = i < n_devices;
	if (there)
		wv_copy_string(path, sizeof(devices[i].provider),
			       devices[i].loaded ? "-" : devices[i].provider);
	wv_unlock();
	return there;
}

static void look_up(const char *path, bool load)
{
	void *library = dlopen(path, RTLD_LAZY | (load ? 0 : RTLD_NOLOAD));
	struct wv_build_id id;
	struct link_map *map;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		return;
	wv_id_of_loaded(NULL, map->l_addr, &id);
	wv_lock();
	for (unsigned int i = 0; i < n_devices; i++) {
		if (strcmp(devices[i].provider, path))
			continue;
		devices[i].loaded = true;
		devices[i].id = id;
	}
	wv_unlock();
}

void wv_provider_list_load(bool load)
{
	char path[sizeof(devices[0].provider)] = "";

	for (unsigned int i = 0; next_provider(i, path); i++)
		if (*path == '/')
			look_up(path, load);
}

bool wv_provider_list_known(void)
{
	return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

bool wv_provider_list_only(char *path, size_t capacity)
{
	bool only;

	wv_lock();
	only = n_devices == 1 && wv_copy_string(path, capacity, devices[0].node);
	wv_unlock();
	return only;
}

bool wv_provider_list_id(const char *path, struct wv_build_id *id)
{
	for (unsigned int i = 0; i < n_devices; i++) {
		if (strcmp(devices[i].node, path) || !devices[i].loaded)
			continue;
		*id = devices[i].id;
		return true;
	}
	return false;
}
