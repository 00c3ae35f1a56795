/*
 * Recipes on disk: DIR/<uid>/<id>.json, one file each, complete or not there at all.
 */
#pragma once

#include "store/recipe.h"

struct wv_store {
	int dir; /* -1: nothing is stored */
	char path[256];
};

/*
 * Makes (mode 0700) and locks the directory @path. 0; -EBUSY if another process has it; or -errno.
 * On failure the store can be used, and does nothing.
 */
int wv_store_open(struct wv_store *store, const char *path);
void wv_store_close(struct wv_store *store);

/* Receives a recipe read from disk, which is the receiver's. */
typedef void (*wv_store_take_fn)(void *arg, struct wv_recipe *recipe);

/*
 * Reads all recipes. A file that is no recipe is renamed to *.bad, one of a newer format is left
 * alone; both are logged. Leftovers of an interrupted save are removed.
 */
void wv_store_load(struct wv_store *store, wv_store_take_fn take, void *arg);

/* Writes @recipe so that a crash leaves the old file or the new one. 0 or -errno. */
int wv_store_save(struct wv_store *store, const struct wv_recipe *recipe);

/* Removes the file; that it is not there is no error. 0 or -errno. */
int wv_store_remove(struct wv_store *store, uid_t uid, uint64_t id);
