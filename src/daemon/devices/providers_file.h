/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The providers file (wire/wire.h), which tells programs which provider libraries the devices of
 * this node need.
 */
#pragma once

#include "daemon/devices/devices.h"

/*
 * Writes the file into the directory @dir. A concurrent reader sees the old file or the new one,
 * never a part. 0 or -errno.
 */
int wv_providers_write(const struct wv_devices *devices, const char *dir);

/* Removes the file from @dir. 0 or -errno. */
int wv_providers_remove(const char *dir);
