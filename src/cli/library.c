/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/library.h"

#include "base/own_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "libwarmverbs.so.0"

static int make_absolute(const char *from, char path[static PATH_MAX])
{
	char absolute[PATH_MAX];

	if (!realpath(from, absolute) || access(absolute, R_OK)) {
		int err = -errno;

		return snprintf(path, PATH_MAX, "%s", from) < PATH_MAX ? err : -ENAMETOOLONG;
	}
	strcpy(path, absolute);
	return 0;
}

static int find_in_build_folder(char path[static PATH_MAX])
{
	char candidate[PATH_MAX];
	int err = wv_beside_executable("../preload/" NAME, candidate);

	return err ? err : make_absolute(candidate, path);
}

int wv_library_find(char path[static PATH_MAX])
{
	const char *given = getenv(WV_LIBRARY_ENV);

	if (given && *given)
		return make_absolute(given, path);
	if (!find_in_build_folder(path))
		return 0;
	/* Not resolved: the link stays valid when a newer library replaces this one. */
	snprintf(path, PATH_MAX, "%s", WV_LIBDIR "/" NAME);
	return access(path, R_OK) ? -errno : 0;
}
