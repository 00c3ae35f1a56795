/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs that list, open and close devices. */
#include "base/base.h"
#include "preload/client/lease_request.h"
#include "preload/core/real.h"
#include "preload/interpose/prepare.h"
#include "preload/lease/device_verbs.h"
#include "preload/prefork/child.h"

#undef ibv_get_device_list
WV_PUBLIC struct ibv_device **ibv_get_device_list(int *num_devices);

WV_PUBLIC struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = wv_child_is_tracking() ? wv_child_list(num_devices) : NULL;

	if (list)
		return list;
	wv_prepare();
	return wv_list_devices(num_devices, true);
}

/*
 * A program that frees the list has opened the devices that it wants, so a pending lease request is
 * of no use.
 */
WV_PUBLIC void ibv_free_device_list(struct ibv_device **list)
{
	const struct wv_real *real = wv_real_usual_verbs();

	if (wv_child_is_tracking() && wv_child_end_list(list))
		return;
	wv_prepare();
	wv_lease_request_drop();
	if (real)
		real->free_device_list(list);
}

WV_PUBLIC struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	if (wv_child_is_tracking())
		return wv_child_open(device);
	wv_prepare();
	return wv_open_device(device);
}
