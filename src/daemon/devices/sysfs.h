/* SPDX-License-Identifier: BSD-2-Clause */
/* Where sysfs is. */
#pragma once

/*
 * The environment variable SYSFS_PATH, where libibverbs looks, too, unless it is empty or this
 * process was given privileges by its file; or else /sys. Valid as long as the environment.
 */
const char *wv_sysfs(void);
