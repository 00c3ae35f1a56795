/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/gid.h"

#include "daemon/devices/devices.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FRESH_US 10000000 /* the kernel does not tell of all changes */

static int read_gid(const char *ibdev, unsigned int port, unsigned int index, uint8_t gid[16])
{
	char path[PATH_MAX], text[64];
	int err;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/%u/gids/%u", wv_sysfs(), ibdev,
		 port, index);
	err = wv_sysfs_read(AT_FDCWD, path, text, sizeof(text));
	if (err)
		return err;
	/* Written as an IPv6 address without shortening (show_port_gid() of the kernel). */
	return inet_pton(AF_INET6, text, gid) == 1 ? 0 : -EPROTO;
}

static struct wv_known_gid *find(struct wv_gids *gids, const char *ibdev, unsigned int port,
				 unsigned int index)
{
	for (unsigned int i = 0; i < WV_GIDS_KEPT; i++) {
		struct wv_known_gid *known = &gids->all[i];

		if (known->read_us && known->port == port && known->index == index &&
		    !strcmp(known->ibdev, ibdev))
			return known;
	}
	return NULL;
}

int wv_gid_find(struct wv_gids *gids, const char *ibdev, unsigned int port, unsigned int index,
		int64_t now_us, uint8_t gid[16])
{
	struct wv_known_gid *known = find(gids, ibdev, port, index);
	int err = 0;

	if (!known || now_us - known->read_us > FRESH_US) {
		known = known ?: &gids->all[gids->n++ % WV_GIDS_KEPT];
		*known = (struct wv_known_gid){.port = port, .index = index};
		snprintf(known->ibdev, sizeof(known->ibdev), "%s", ibdev);
		err = read_gid(ibdev, port, index, known->gid);
		known->read_us = err ? 0 : now_us;
	}
	memcpy(gid, known->gid, sizeof(known->gid));
	return err;
}

void wv_gids_forget(struct wv_gids *gids)
{
	memset(gids, 0, sizeof(*gids));
}
