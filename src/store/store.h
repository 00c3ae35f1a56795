/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recipes on disk: one file each, DIR/<uid>/<id>.json, which is complete or does not exist.
 */
#pragma once

#include "store/recipe.h"

/* Names of files in a user's directory. */
#define WV_SUFFIX     ".json"
#define WV_BAD_SUFFIX ".bad"
#define WV_NEW_PREFIX ".new-" /* being written; after a crash such a file stays behind */

struct wv_store {
	int dir; /* -1: nothing is stored */
	char path[256];
};

/*
 * Makes (mode 0700) and locks the directory @path. 0; -EBUSY if another process has locked it; or
 * -errno. After a failure the store can be used too, and stores nothing.
 */
int wv_store_open(struct wv_store *store, const char *path);

/* Unlocks the directory. */
void wv_store_close(struct wv_store *store);

/* Writes @recipe; a crash leaves the old file or the new one. 0 or -errno. */
int wv_store_save(struct wv_store *store, const struct wv_recipe *recipe);

/* Removes the file of recipe @id of @uid; a file that does not exist is no error. 0 or -errno. */
int wv_store_remove(struct wv_store *store, uid_t uid, uint64_t id);

/* Receives a recipe that was read; it is the receiver's. */
typedef void (*wv_store_take_fn)(void *arg, struct wv_recipe *recipe);

/*
 * Reads all recipes in the store, in which any file may lie, and gives each to @take. A file that
 * is not a recipe is renamed to *.bad, a file of a newer format is left alone; both are logged.
 * Files of an interrupted save are removed.
 */
void wv_store_load(struct wv_store *store, wv_store_take_fn take, void *arg);
