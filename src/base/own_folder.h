/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that belong to the executable of this process. */
#pragma once

#include <limits.h>

/*
 * Writes the path of @name, from the folder of this process's executable, to @path. Returns 0 or
 * -errno: -ENAMETOOLONG, or as readlink(2). Does not look whether there is such a file.
 */
int wv_beside_executable(const char *name, char path[static PATH_MAX]);
