/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the store, in which any file may lie.
 */
#pragma once

#include "store/store.h"

/* Receives a recipe that was read; it is the receiver's. */
typedef void (*wv_store_take_fn)(void *arg, struct wv_recipe *recipe);

/*
 * Reads all recipes and gives each to @take. A file that is not a recipe is renamed to *.bad, a
 * file of a newer format is left alone; both are logged. Files of an interrupted save are removed.
 */
void wv_store_load(struct wv_store *store, wv_store_take_fn take, void *arg);
