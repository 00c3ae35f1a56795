/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding the library to preload.
 */
#pragma once

#include <limits.h>

#define WV_LIBRARY_ENV "WARMVERBS_LIBRARY"

/*
 * Finds the absolute path of libwarmverbs.so.0: the one that WARMVERBS_LIBRARY names, else the one
 * in the executable's build folder, else the installed one. Returns 0, or -errno with @path set to
 * where the library should be.
 */
int wv_library_find(char path[static PATH_MAX]);
