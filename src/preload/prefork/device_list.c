/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/device_list.h"

#include "base/base.h"
#include "preload/core/real.h"
#include "preload/lease/device_verbs.h"

#include <stdlib.h>
#include <string.h>

static struct ibv_device **devices WV_HOT, **inherited WV_HOT; /* the latter from the parent */
static int n_devices WV_HOT, n_inherited WV_HOT;

struct ibv_device **wv_device_list(void)
{
	if (!devices)
		devices = wv_list_devices(&n_devices, false);
	return devices;
}

void wv_device_list_forget(void)
{
	if (devices)
		wv_real_verbs()->free_device_list(devices);
	devices = NULL;
}

void wv_device_list_forked(void)
{
	inherited = devices;
	n_inherited = n_devices;
	devices = NULL;
}

struct ibv_device **wv_device_list_copy(struct wv_device_copies *to, int *n)
{
	size_t bytes = ((size_t)n_inherited + 1) * sizeof(*inherited);
	struct ibv_device **copy;
	unsigned int i = 0;

	while (i < WV_DEVICES_COPIES && to->copies[i])
		i++;
	if (!inherited || i == WV_DEVICES_COPIES)
		return NULL;
	copy = !i && bytes <= sizeof(to->first) ? to->first : malloc(bytes);
	if (!copy)
		return NULL;
	memcpy(copy, inherited, bytes);
	if (n)
		*n = n_inherited;
	to->n++;
	return to->copies[i] = copy;
}

bool wv_device_list_end_copy(struct wv_device_copies *of, struct ibv_device **list)
{
	for (unsigned int i = 0; i < WV_DEVICES_COPIES; i++) {
		if (!list || of->copies[i] != list)
			continue;
		of->copies[i] = NULL;
		of->n--;
		if (list != of->first)
			free(list);
		return true;
	}
	return false;
}
