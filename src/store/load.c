/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/load.h"

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
#include <sys/stat.h>

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
	char id[17];

	wv_hex_u64(recipe->id, id);
	return !strncmp(name, id, 16) && !strcmp(name + 16, WV_SUFFIX);
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
