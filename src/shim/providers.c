#include "shim/providers.h"

#include "base/base.h"
#include "base/build_id.h"
#include "shim/real.h"
#include "shim/settings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEVICES 32
#define DEVICE_DIR  "/dev/infiniband/"

struct device {
	char node[48]; /* path of the device node */
	char provider[192];
	void *library; /* loaded, or NULL */
};

static struct device devices[MAX_DEVICES];
static unsigned int n_devices;
static bool known, read_once;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
	void *library = device->library;

	if (!path || n_devices == MAX_DEVICES)
		return;
	*path++ = '\0';
	if (strlen(line) + sizeof(DEVICE_DIR) > sizeof(device->node) ||
	    strlen(path) >= sizeof(device->provider))
		return;
	if (strcmp(device->provider, path))
		library = NULL;
	strcpy(stpcpy(device->node, DEVICE_DIR), line);
	strcpy(device->provider, path);
	device->library = library;
	n_devices++;
}

void wv_providers_read(void)
{
	char text[4096];
	char *rest = text;
	ssize_t got = wv_settings()->providers ? read_list(text, sizeof(text)) : -1;

	pthread_mutex_lock(&lock);
	n_devices = 0;
	read_once = true;
	known = got > 0;
	while (known && rest && *rest) {
		char *line = strsep(&rest, "\n");

		parse_line(line);
	}
	pthread_mutex_unlock(&lock);
}

bool wv_providers_known(void)
{
	if (!read_once)
		wv_providers_read();
	return known;
}

void wv_providers_load(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < n_devices; i++)
		if (!devices[i].library && devices[i].provider[0] == '/')
			devices[i].library = dlopen(devices[i].provider, RTLD_LAZY);
	pthread_mutex_unlock(&lock);
}

const char *wv_only_device(void)
{
	return n_devices == 1 ? devices[0].node : NULL;
}

void wv_provider_id(const char *path, struct wv_build_id *id)
{
	struct link_map *map;

	memset(id, 0, sizeof(*id));
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < n_devices; i++) {
		if (strcmp(devices[i].node, path))
			continue;
		if (!devices[i].library)
			devices[i].library = dlopen(devices[i].provider, RTLD_LAZY | RTLD_NOLOAD);
		if (devices[i].library && !dlinfo(devices[i].library, RTLD_DI_LINKMAP, &map))
			wv_id_of_loaded(NULL, map->l_addr, id);
	}
	pthread_mutex_unlock(&lock);
}
