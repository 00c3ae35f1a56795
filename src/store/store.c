/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store.h"

#include "base/base.h"
#include "base/log.h"
#include "store/hex.h"
#include "store/json_memory.h"
#include "store/recipe_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Makes @path and every directory on the way, as "mkdir -p" does. */
static int make_path(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static int open_locked(const char *path)
{
	wv_auto_fd dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	if (flock(dir, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fchmod(dir, 0700))
		wv_log(WV_DEBUG, "%s: cannot make it private: %m", path);
	return wv_steal_fd(&dir);
}

int wv_store_open(struct wv_store *store, const char *path)
{
	int err;

	store->dir = -1;
	if (!*path || strlen(path) >= sizeof(store->path))
		return -ENAMETOOLONG;
	strcpy(store->path, path);
	err = make_path(store->path);
	if (err)
		return err;
	store->dir = open_locked(path);
	return store->dir < 0 ? store->dir : 0;
}

void wv_store_close(struct wv_store *store)
{
	wv_close_fd(&store->dir);
}

/* Opens the user's directory, and makes it first if @make. A descriptor or -errno. */
static int open_user(struct wv_store *store, uid_t uid, bool make)
{
	char name[16];
	int dir;

	if (store->dir < 0)
		return -ENODEV;
	snprintf(name, sizeof(name), "%u", uid);
	if (make) {
		if (!mkdirat(store->dir, name, 0700))
			fsync(store->dir);
		else if (errno != EEXIST)
			return -errno;
	}
	dir = openat(store->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		bytes -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

static int write_new(int dir, const char *name, const char *text)
{
	wv_auto_fd fd =
	    openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : write_all(fd, text, strlen(text));
}

static int replace(int dir, const char *name, const char *text)
{
	char new_name[64];
	int err;

	snprintf(new_name, sizeof(new_name), WV_NEW_PREFIX "%s", name);
	err = write_new(dir, new_name, text);
	if (!err && renameat(dir, new_name, dir, name))
		err = -errno;
	if (err) {
		unlinkat(dir, new_name, 0);
		return err;
	}
	return fsync(dir) ? -errno : 0;
}

static void file_name(uint64_t id, char name[static 32])
{
	wv_hex_u64(id, name);
	strcat(name, WV_SUFFIX);
}

int wv_store_save(struct wv_store *store, const struct wv_recipe *recipe)
{
	wv_auto_fd dir = open_user(store, recipe->uid, true);
	wv_auto_free char *text = NULL;
	char name[32];
	json_t *json;

	if (dir < 0)
		return dir;
	wv_json_begin();
	json = wv_recipe_to_json(recipe);
	text = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	if (!text || wv_json_was_short())
		return -ENOMEM;
	file_name(recipe->id, name);
	return replace(dir, name, text);
}

int wv_store_remove(struct wv_store *store, uid_t uid, uint64_t id)
{
	wv_auto_fd dir = open_user(store, uid, false);
	char name[32];

	if (dir < 0)
		return dir == -ENOENT || dir == -ENODEV ? 0 : dir;
	file_name(id, name);
	/*
	 * Not synced: clients are waiting, and a recipe that comes back after a crash does no harm.
	 */
	return unlinkat(dir, name, 0) && errno != ENOENT ? -errno : 0;
}
