#include "preload/prefork/device_list.h"

#include "preload/core/real_verbs.h"
#include "preload/interpose/verbs_device.h"

#include <stdlib.h>
#include <string.h>

static struct ibv_device **devices;
static int n_devices;

struct ibv_device **wv_devices(void)
{
	if (!devices)
		devices = wv_list_plainly(&n_devices, false);
	return devices;
}

void wv_devices_forget(void)
{
	if (devices)
		wv_real_verbs()->free_device_list(devices);
	devices = NULL;
}

struct ibv_device **wv_devices_copy(struct wv_device_copies *to, int *n)
{
	size_t bytes = ((size_t)n_devices + 1) * sizeof(*devices);
	struct ibv_device **copy;
	unsigned int i = 0;

	while (i < WV_DEVICES_COPIES && to->copies[i])
		i++;
	if (!devices || i == WV_DEVICES_COPIES)
		return NULL;
	copy = !i && bytes <= sizeof(to->first) ? to->first : malloc(bytes);
	if (!copy)
		return NULL;
	memcpy(copy, devices, bytes);
	if (n)
		*n = n_devices;
	return to->copies[i] = copy;
}

bool wv_devices_end_copy(struct wv_device_copies *of, struct ibv_device **list)
{
	for (unsigned int i = 0; i < WV_DEVICES_COPIES; i++) {
		if (!list || of->copies[i] != list)
			continue;
		of->copies[i] = NULL;
		if (list != of->first)
			free(list);
		return true;
	}
	return false;
}
