#include "ready/devices.h"

#include "ready/real_verbs.h"
#include "shim/verbs.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 16
#define MAX_COPIES  8 /* at a time; programs hold one */

static struct ibv_device **devices;
static int n_devices;
static struct ibv_device **copies[MAX_COPIES];
static struct ibv_device *first[MAX_DEVICES + 1]; /* of the first of them, without malloc() */

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

struct ibv_device **wv_devices_copy(int *n)
{
	size_t bytes = ((size_t)n_devices + 1) * sizeof(*devices);
	unsigned int i = 0;

	while (i < MAX_COPIES && copies[i])
		i++;
	if (!devices || i == MAX_COPIES)
		return NULL;
	copies[i] = !i && bytes <= sizeof(first) ? first : malloc(bytes);
	if (!copies[i])
		return NULL;
	memcpy(copies[i], devices, bytes);
	if (n)
		*n = n_devices;
	return copies[i];
}

bool wv_devices_end_copy(struct ibv_device **list)
{
	for (unsigned int i = 0; i < MAX_COPIES; i++) {
		if (!list || copies[i] != list)
			continue;
		copies[i] = NULL;
		if (list != first)
			free(list);
		return true;
	}
	return false;
}
