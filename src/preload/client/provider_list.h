/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libibverbs finds a device's provider by loading all installed ones, unless a fitting one is
 * loaded already. The daemon leaves a list of the node's devices and their providers next to its
 * socket. Loading only these is most of what a short program gains on soft-RoCE.
 */
#pragma once

#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the daemon's list, if there is one, again. */
void wv_provider_list_read(void);

/*
 * Looks up the listed providers that are loaded already; with @load, loads the others too. Takes
 * the loader's lock, so call it with no lock held: a plugin may call it from its constructor.
 */
void wv_provider_list_load(bool load);

/* Whether there was a list. If not, there is no daemon to ask. */
bool wv_provider_list_known(void);

/* Copies the path of the node's only device. False: the node has no device, or several. */
bool wv_provider_list_only(char *path, size_t capacity);

/*
 * Whether @holds is true of the name of the file of the provider for the device node @path, or, if
 * that is NULL, of any listed provider. Call with the lock held.
 */
bool wv_provider_list_says(const char *path, bool (*holds)(const char *file));

/*
 * The build-id of the provider that is loaded for the device node @path. False: it is not known.
 * Call with the lock held.
 */
bool wv_provider_list_id(const char *path, struct wv_build_id *id);
