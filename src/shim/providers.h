/*
 * libibverbs finds a device's provider by loading every installed one, unless a fitting one is
 * loaded already. The daemon leaves a list of the node's devices and their providers beside its
 * socket; loading just these is most of what a short program gains on soft-RoCE.
 */
#pragma once

#include "wire/wire.h"

#include <stdbool.h>

/* Reads the daemon's list again, if there is one. Called at each ibv_get_device_list(). */
void wv_providers_read(void);

/* Whether there was a list, that is, whether there is a daemon worth asking. */
bool wv_providers_known(void);

/* Loads the providers on the list that are not loaded yet. */
void wv_providers_load(void);

/* The path of the node's only device, or NULL if it has none or several. */
const char *wv_only_device(void);

/* The build-id of the provider loaded for the device node @path, zero if unknown. */
void wv_provider_id(const char *path, struct wv_build_id *id);
