/* Where the library to preload is. */
#pragma once

#include <limits.h>

#define WV_LIBRARY_ENV "WARMVERBS_LIBRARY"

/*
 * The absolute path of libwarmverbs.so.0: as WARMVERBS_LIBRARY says, else beside the executable in
 * a build folder, else where it was installed. 0, or -errno with @path being where it should be.
 */
int wv_library_find(char path[static PATH_MAX]);
