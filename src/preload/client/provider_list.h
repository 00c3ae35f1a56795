/*
 * libibverbs finds a device's provider by loading every installed one, unless a fitting one is
 * loaded already. The daemon leaves a list of the node's devices and their providers beside its
 * socket; loading just these is most of what a short program gains on soft-RoCE.
 */
#pragma once

#include "wire/wire.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the daemon's list again, if there is one. */
void wv_provider_list_read(void);

/*
 * Looks up the listed providers that are loaded already; with @load, loads the others too. Takes
 * the loader's lock: call it with none held, since a plugin may come here from its constructor.
 */
void wv_provider_list_load(bool load);

/* Whether there was a list, that is, whether there is a daemon worth asking. */
bool wv_provider_list_known(void);

/* Copies the path of the node's only device. False if it has none or several. */
bool wv_provider_list_only(char *path, size_t capacity);

/*
 * The build-id of the provider loaded for the device node @path. False if it is not known. Call
 * with the lock held.
 */
bool wv_provider_list_id(const char *path, struct wv_build_id *id);
