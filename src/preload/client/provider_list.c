/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/provider_list.h"

#include "base/base.h"
#include "base/build_id.h"
#include "preload/core/lock.h"
#include "preload/core/settings.h"
#include "wire/wire.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES    80  /* "uverbs63 ", 63 bytes of a provider's name and the end fit */
#define LIST_CAPACITY 128 /* of the path of the list */
#define PATH_CAPACITY 512 /* longer paths of providers are left to libibverbs */
#define DEVICE_DIR    "/dev/infiniband/"

struct device {
	char node[48];	   /* path of the device node */
	char provider[64]; /* name of the library's file */
	bool loaded;	   /* if so, @id is set */
	struct wv_build_id id;
};

/* Guarded by the lock of the control path. */
static struct device *devices; /* most nodes have one: a table would cost a page fault */
static unsigned int n_devices, n_allocated;
static bool known;

/* The file's path, and where in @path its name begins. NULL: the path of the socket is no good. */
static char *file_path(char *path)
{
	char *slash, *name;

	if (!wv_copy_string(path, LIST_CAPACITY, wv_settings()->socket))
		return NULL;
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	if (!slash ||
	    !wv_copy_string(name, LIST_CAPACITY - (size_t)(name - path), WV_PROVIDERS_FILE))
		return NULL;
	return name;
}

/* Does not wait for whoever would write to a FIFO. */
static int open_file(void)
{
	char path[LIST_CAPACITY], *name = file_path(path);
	int fd = name ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	if (fd < 0)
		return -1;
	*name = '\0';
	if (!wv_provider_list_is_trusted(fd, path))
		wv_close_fd(&fd);
	return fd;
}

/*
 * Reads the providers file, which the daemon leaves next to its socket, into @text, with a final
 * zero; what does not fit is left out. False: there is none, or somebody could have written it whom
 * this program does not trust. Never waits.
 */
static bool read_file(char *text, size_t capacity)
{
	wv_auto_fd fd = open_file();
	ssize_t got = fd < 0 ? -1 : read(fd, text, capacity - 1);

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

/* "uverbs0 libNAME-rdmav34.so", or "uverbs0 -" if its provider is not known. */
static void parse_line(char *line)
{
	char *name = strchr(line, ' ');
	struct device *device;

	if (!name || n_devices == WV_MAX_DEVICES || !make_room())
		return;
	device = &devices[n_devices];
	*name++ = '\0';
	device->loaded = device->loaded && !strcmp(device->provider, name);
	memcpy(device->node, DEVICE_DIR, sizeof(DEVICE_DIR) - 1);
	if (wv_copy_string(device->node + sizeof(DEVICE_DIR) - 1,
			   sizeof(device->node) - sizeof(DEVICE_DIR) + 1, line) &&
	    wv_copy_string(device->provider, sizeof(device->provider), name))
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
	char text[WV_MAX_DEVICES * LINE_BYTES];
	bool found;

	wv_lock();
	n_devices = 0;
	found = wv_settings()->providers && read_file(text, sizeof(text));
	__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	if (found)
		parse_list(text);
	wv_unlock();
}

/* The name of the next provider that was not looked up yet; false after the last. */
static bool next_provider(unsigned int i, char *name)
{
	bool there;

	wv_lock();
	there = i < n_devices;
	if (there)
		wv_copy_string(name, sizeof(devices[i].provider),
			       devices[i].loaded ? "-" : devices[i].provider);
	wv_unlock();
	return there;
}

/*
 * The path of the libibverbs in use; NULL: it is not loaded, or by a path that may change. It stays
 * loaded from now on, like the providers, which need it.
 */
static const char *verbs_path(void)
{
	void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	struct link_map *map;

	return verbs && !dlinfo(verbs, RTLD_DI_LINKMAP, &map) && *map->l_name == '/' ? map->l_name
										     : NULL;
}

/*
 * libibverbs has its providers in the folder "libibverbs" beside its own file (rdma-core,
 * VERBS_PROVIDER_DIR). False: @name is not the plain name of a file, or the folder is not known.
 */
static bool provider_path(const char *name, char *path, size_t capacity)
{
	static const char folder[] = "libibverbs/";
	const char *verbs = strchr(name, '/') ? NULL : verbs_path();
	char *at, *end = path + capacity;

	if (!verbs || !wv_copy_string(path, capacity, verbs))
		return false;
	at = strrchr(path, '/') + 1;
	if (!wv_copy_string(at, (size_t)(end - at), folder))
		return false;
	at += sizeof(folder) - 1;
	return wv_copy_string(at, (size_t)(end - at), name);
}

/*
 * A container's libibverbs may be of another release than the node's, and then has another ABI in
 * the names of its providers (rdma-core, IBVERBS_PABI_VERSION). Of those found, the dynamic linker
 * refuses any that does not fit the libibverbs here.
 */
static void *open_of_other_abi(const char *path, int mode)
{
	const char *abi = strstr(strrchr(path, '/'), "-rdmav");
	char pattern[PATH_CAPACITY];
	void *library = NULL;
	glob_t found;

	if (!abi)
		return NULL;
	snprintf(pattern, sizeof(pattern), "%.*s-rdmav*.so", (int)(abi - path), path);
	if (glob(pattern, 0, NULL, &found))
		return NULL;
	for (size_t i = 0; i < found.gl_pathc && !library; i++)
		library = dlopen(found.gl_pathv[i], mode);
	globfree(&found);
	return library;
}

static void *open_provider(const char *name, int mode)
{
	char path[PATH_CAPACITY];
	void *library;

	if (!provider_path(name, path, sizeof(path)))
		return NULL;
	library = dlopen(path, mode);
	return library || !access(path, F_OK) ? library : open_of_other_abi(path, mode);
}

static void look_up(const char *name, bool load)
{
	void *library = open_provider(name, RTLD_LAZY | (load ? 0 : RTLD_NOLOAD));
	struct wv_build_id id;
	struct link_map *map;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map))
		return;
	wv_id_of_loaded(NULL, map->l_addr, &id);
	wv_lock();
	for (unsigned int i = 0; i < n_devices; i++) {
		if (strcmp(devices[i].provider, name))
			continue;
		devices[i].loaded = true;
		devices[i].id = id;
	}
	wv_unlock();
}

void wv_provider_list_load(bool load)
{
	char name[sizeof(devices[0].provider)] = "";

	for (unsigned int i = 0; next_provider(i, name); i++)
		if (strcmp(name, "-") != 0)
			look_up(name, load);
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

bool wv_provider_list_says(const char *path, bool (*holds)(const char *file))
{
	for (unsigned int i = 0; i < n_devices; i++)
		if ((!path || !strcmp(devices[i].node, path)) && holds(devices[i].provider))
			return true;
	return false;
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
