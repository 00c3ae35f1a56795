/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/memory_limit.h"

#include "base/base.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-login.h>

/* A file that is not there, or says "max", is no limit. */
static uint64_t read_limit(const char *root, int bytes, const char *path)
{
	char name[PATH_MAX], text[32] = {0};
	unsigned long long limit;
	wv_auto_fd fd = -1;

	if (snprintf(name, sizeof(name), "%s%.*s/memory.max", root, bytes, path) >=
	    (int)sizeof(name))
		return UINT64_MAX;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%llu", &limit) != 1)
		return UINT64_MAX;
	return limit;
}

uint64_t wv_cgroup_memory_limit(const char *root, const char *path)
{
	uint64_t least = UINT64_MAX;

	for (size_t bytes = strlen(path); bytes; bytes--) {
		uint64_t limit = UINT64_MAX;

		if (!path[bytes] || path[bytes] == '/')
			limit = read_limit(root, (int)bytes, path);
		least = limit < least ? limit : least;
	}
	return least;
}

uint64_t wv_memory_limit(void)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * wv_page_size();
	wv_auto_free char *path = NULL;
	uint64_t limit = UINT64_MAX;

	if (sd_pid_get_cgroup(0, &path) >= 0)
		limit = wv_cgroup_memory_limit(WV_CGROUP_ROOT, path);
	return limit < machine ? limit : machine;
}
