/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/device_verbs.h"

#include "preload/client/lease_request.h"
#include "preload/client/provider_list.h"
#include "preload/core/context.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/core/trace.h"
#include "preload/lease/one_thread.h"
#include "preload/providers.h"

#include <errno.h>
#include <stdlib.h>

/* A lease takes a moment to arrive, so it is requested before the devices are listed. */
static void get_ready(bool ask)
{
	char only[64];
	int saved = errno;

	wv_provider_list_read();
	if (ask && wv_provider_list_only(only, sizeof(only)))
		wv_lease_request_begin(only);
	wv_provider_list_load(true);
	errno = saved;
}

static bool is_of_use(void)
{
	return wv_settings()->enabled && wv_process_is_adopted();
}

struct ibv_device **wv_list_devices(int *n, bool ask)
{
	const struct wv_real *real = wv_real_usual_verbs();
	struct ibv_device **list;
	uint64_t start;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	if (!is_of_use())
		return real->get_device_list(n);
	start = wv_trace_now();
	get_ready(ask);
	list = real->get_device_list(n);
	wv_trace_list(start);
	return list;
}

static bool prepare_recording(struct wv_context *c)
{
	if (!c->allocations)
		c->allocations = calloc(1, sizeof(*c->allocations));
	return c->allocations;
}

/*
 * Makes the provider ask this library for the memory of its queues, if the provider can use memory
 * from elsewhere.
 */
static void place_queues(struct ibv_context *verbs, struct wv_context *c)
{
	const struct wv_provider *provider = wv_provider_find(c->driver_id);

	c->verbs = verbs;
	if ((c->mode == WV_RECORDING && !prepare_recording(c)) ||
	    (provider && provider->place_queues && !provider->place_queues(verbs, c)))
		c->stopped = true;
}

void wv_open_begin(void)
{
	wv_scope.opening = is_of_use();
}

/* Ends the scope of the open: from now on the provider creates what the program wants. */
struct ibv_context *wv_open_end(struct ibv_context *verbs)
{
	bool is_ours = wv_scope.opening;
	struct wv_context *c;
	int saved = errno;

	wv_scope.opening = false;
	if (!verbs || !is_ours)
		return verbs;
	wv_lock();
	c = wv_context_of(verbs->cmd_fd);
	if (c)
		wv_context_opened(c);
	wv_unlock();
	if (c) {
		place_queues(verbs, c);
		wv_one_thread_watch(verbs, c);
	}
	errno = saved;
	return verbs;
}

struct ibv_context *wv_open_device(struct ibv_device *device)
{
	const struct wv_real *real = wv_real_usual_verbs();

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	wv_open_begin();
	return wv_open_end(real->open_device(device));
}
