/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store.h"

#include "base/base.h"
#include "base/log.h"
#include "store/hex.h"
#include "store/json_memory.h"
#include "store/recipe_json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* A user's directory that is being read. */
struct place {
	struct wv_store *store;
	int dir;
	uid_t uid;
	wv_store_take_fn take;
	void *arg;
};

static void set_aside(const struct place *p, const char *name, const char *why)
{
	char bad[NAME_MAX + 1];
	int cut = snprintf(bad, sizeof(bad), "%s" WV_BAD_SUFFIX, name) >= (int)sizeof(bad);

	if (cut || renameat(p->dir, name, p->dir, bad))
		wv_log(WV_WARNING, "%s/%u/%s is not a usable recipe (%s) and cannot be renamed",
		       p->store->path, p->uid, name, why);
	else
		wv_log(WV_WARNING, "%s/%u/%s is not a usable recipe (%s): set aside as %s",
		       p->store->path, p->uid, name, why, bad);
}

static int read_all(int fd, char *text, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t n = read(fd, text + at, bytes - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (size_t)n;
	}
	return 0;
}

/* Reads a file. *@text is the caller's, unless NULL. 0, -errno, or WV_RECIPE_BAD with @why. */
static int read_file(int dir, const char *name, char **text, size_t *bytes, const char **why)
{
	wv_auto_fd fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	*why = "not a regular file";
	if (fd < 0)
		return errno == ELOOP ? WV_RECIPE_BAD : -errno;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return WV_RECIPE_BAD;
	*why = "larger than any recipe";
	if (st.st_size > WV_RECIPE_MAX_BYTES)
		return WV_RECIPE_BAD;
	*bytes = (size_t)st.st_size;
	*text = malloc(*bytes + 1);
	if (!*text)
		return -ENOMEM;
	return read_all(fd, *text, *bytes);
}

static int parse(const struct place *p, const char *text, size_t bytes, struct wv_recipe **recipe,
		 char *why, size_t capacity)
{
	int err = WV_RECIPE_BAD;
	json_error_t error;
	json_t *json;

	wv_json_begin();
	json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (json)
		err = wv_recipe_from_json(json, p->uid, recipe, why, capacity);
	else
		snprintf(why, capacity, "line %d: %s", error.line, error.text);
	json_decref(json);
	return err && wv_json_was_short() ? -ENOMEM : err;
}

static bool has_own_name(const struct wv_recipe *recipe, const char *name)
{
	char own[32];

	file_name(recipe->id, own);
	return !strcmp(name, own);
}

static void load_file(const struct place *p, const char *name)
{
	wv_auto_free char *text = NULL;
	struct wv_recipe *recipe;
	char why[200];
	const char *no_file;
	size_t bytes = 0;
	int err = read_file(p->dir, name, &text, &bytes, &no_file);

	if (err == WV_RECIPE_BAD) {
		set_aside(p, name, no_file);
		return;
	}
	if (!err)
		err = parse(p, text, bytes, &recipe, why, sizeof(why));
	if (err == WV_RECIPE_NEWER) {
		wv_log(WV_NOTICE, "%s/%u/%s is left alone: %s", p->store->path, p->uid, name, why);
	} else if (err == WV_RECIPE_BAD) {
		set_aside(p, name, why);
	} else if (err) {
		wv_log(WV_WARNING, "%s/%u/%s cannot be read: %s", p->store->path, p->uid, name,
		       strerror(-err));
	} else if (!has_own_name(recipe, name)) {
		wv_recipe_free(recipe);
		set_aside(p, name, "the content belongs to another recipe");
	} else {
		recipe->stored = true;
		p->take(p->arg, recipe);
	}
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t bytes = strlen(name), tail = strlen(suffix);

	return bytes >= tail && !strcmp(name + bytes - tail, suffix);
}

/* Closes the directory. */
static void load_user(struct place *p)
{
	DIR *stream = fdopendir(p->dir);
	struct dirent *entry;

	if (!stream) {
		close(p->dir);
		return;
	}
	while ((entry = readdir(stream))) {
		if (!strncmp(entry->d_name, WV_NEW_PREFIX, strlen(WV_NEW_PREFIX)))
			unlinkat(p->dir, entry->d_name, 0);
		else if (ends_with(entry->d_name, WV_SUFFIX))
			load_file(p, entry->d_name);
	}
	closedir(stream);
}

/* Reads a user's number, which has exactly one spelling. 0 or -EINVAL. */
static int parse_uid(const char *name, uid_t *uid)
{
	char again[16];
	char *end;

	*uid = (uid_t)strtoul(name, &end, 10);
	snprintf(again, sizeof(again), "%u", *uid);
	return strcmp(again, name) ? -EINVAL : 0;
}

void wv_store_load(struct wv_store *store, wv_store_take_fn take, void *arg)
{
	struct place p = {.store = store, .take = take, .arg = arg};
	int again =
	    store->dir < 0 ? -1 : openat(store->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (!stream) {
		wv_close_fd(&again);
		return;
	}
	while ((entry = readdir(stream))) {
		if (parse_uid(entry->d_name, &p.uid))
			continue;
		p.dir = openat(store->dir, entry->d_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (p.dir >= 0)
			load_user(&p);
	}
	closedir(stream);
}
