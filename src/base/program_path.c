/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/program_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int wv_program_find(const char *name, const char *folders, char *path, size_t capacity)
{
	const char *folder = folders ? folders : "/bin:/usr/bin";

	if (strchr(name, '/')) {
		snprintf(path, capacity, "%s", name);
		return is_program(path) ? 0 : -ENOENT;
	}
	for (;; folder++) {
		int length = (int)strcspn(folder, ":");

		/* An empty element is the working directory. */
		snprintf(path, capacity, "%.*s%s%s", length, folder, length ? "/" : "", name);
		if (is_program(path))
			return 0;
		folder += length;
		if (!*folder)
			return -ENOENT;
	}
}
