/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/gid.h"

#include "base/base.h"
#include "daemon/devices/sysfs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int wv_gid_read(const char *ibdev, unsigned int port, unsigned int index, uint8_t gid[16])
{
	char path[PATH_MAX], text[64] = "";
	wv_auto_fd fd = -1;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/%u/gids/%u", wv_sysfs(), ibdev,
		 port, index);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -errno;
	text[strcspn(text, "\n")] = '\0';
	/* Written as an IPv6 address without shortening (show_port_gid() of the kernel). */
	return inet_pton(AF_INET6, text, gid) == 1 ? 0 : -EPROTO;
}
