/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/sysfs.h"

#include <stdlib.h>

const char *wv_sysfs(void)
{
	const char *path = secure_getenv("SYSFS_PATH");

	return path && *path ? path : "/sys";
}
