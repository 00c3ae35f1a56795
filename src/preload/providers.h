/* The rooms of all providers. */
#pragma once

#include "preload/core/provider.h"

/* The room of the driver, or NULL: nothing is special about its provider. */
const struct wv_provider *wv_provider_find(uint32_t driver_id);

/* Whether the environment chooses the memory of queues for any provider (core/provider.h). */
bool wv_provider_queues_are_chosen(void);

/* Whether a provider must not read the file at @path while it opens a device. */
bool wv_provider_hides_file(const char *path);

/* In a forked child, with the lock of the control path held. */
void wv_provider_forked(void);
