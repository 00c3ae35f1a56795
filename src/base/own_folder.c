/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int wv_beside_executable(const char *name, char path[static PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *at;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	at = strrchr(path, '/');
	at = at ? at + 1 : path;
	if (strlen(name) >= (size_t)(path + PATH_MAX - at))
		return -ENAMETOOLONG;
	strcpy(at, name);
	return 0;
}
