#include "shim/providers.h"

#include "base/base.h"
#include "base/build_id.h"
#include "shim/context.h"
#include "shim/real.h"
#include "shim/settings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

#define MAX_DEVICES 32
#define DEVICE_DIR  "/dev/infiniband/"

struct device {
	char node[48]; /* path of the device node */
	char provider[192];
	bool loaded; /* and then: */
	struct wv_build_id id;
};

/* Guarded by the lock of the control path. */
static struct device devices[MAX_DEVICES];
static unsigned int n_devices;
static bool known;

static ssize_t read_list(char *text, size_t capacity)
{
	const char *socket = wv_settings()->socket;
	const char *slash = strrchr(socket, '/');
	char path[256];
	ssize_t got;
	int fd;

	if (!slash || (size_t)(slash - socket) + sizeof("/" WV_PROVIDERS_FILE) > sizeof(path))
		return -1;
	memcpy(path, socket, (size_t)(slash - socket) + 1);
	strcpy(path + (slash - socket) + 1, WV_PROVIDERS_FILE);
	fd = real_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	got = real_read(fd, text, capacity - 1);
	real_close(fd);
	if (got >= 0)
		text[got] = '\0';
	return got;
}

/* One line: "uverbs0 /usr/lib/.../librxe-rdmav34.so". */
static void parse_line(char *line)
{
	struct device *device = &devices[n_devices];
	char *path = strchr(line, ' ');

	if (!path || path[1] != '/' || n_devices == MAX_DEVICES)
		return;
	*path++ = '\0';
	if (strlen(line) + sizeof(DEVICE_DIR) > sizeof(device->node) ||
	    strlen(path) >= sizeof(device->provider))
		return;
	strcpy(stpcpy(device->node, DEVICE_DIR), line);
	device->loaded = device->loaded && !strcmp(device->provider, path);
	strcpy(device->provider, path);
	n_devices++;
}

void wv_providers_read(void)
{
	char text[4096];
	char *rest = text;
	bool found;

	wv_lock();
	n_devices = 0;
	found = wv_settings()->providers && read_list(text, sizeof(text)) > 0;
	__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	while (found && rest)
		parse_line(strsep(&rest, "\n"));
	wv_unlock();
}

/* The path of a device's provider that still has to be looked up; false after the last. */
static bool next_provider(unsigned int i, char *path)
{
	bool there;

	wv_lock();
	there = i < n_devices;
	if (there)
		strcpy(path, devices[i].loaded ? "" : devices[i].provider);
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

void wv_providers_load(bool load)
{
	char path[sizeof(devices[0].provider)];

	for (unsigned int i = 0; next_provider(i, path); i++)
		if (*path)
			look_up(path, load);
}

bool wv_providers_known(void)
{
	return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

bool wv_only_device(char *path, size_t capacity)
{
	bool only;

	wv_lock();
	only = n_devices == 1 && strlen(devices[0].node) < capacity;
	if (only)
		strcpy(path, devices[0].node);
	wv_unlock();
	return only;
}

void wv_provider_id(const char *path, struct wv_build_id *id)
{
	memset(id, 0, sizeof(*id));
	for (unsigned int i = 0; i < n_devices; i++)
		if (!strcmp(devices[i].node, path) && devices[i].loaded)
			*id = devices[i].id;
}
