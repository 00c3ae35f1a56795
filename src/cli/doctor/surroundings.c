/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/surroundings.h"

#include "base/base.h"
#include "cli/doctor/small_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What container managers leave behind: Docker, Podman, those that follow systemd's interface. */
static const char *const marks[] = {"/.dockerenv", "/run/.containerenv",
				    "/run/host/container-manager"};

bool wv_is_contained(const char *root)
{
	char path[PATH_MAX], users[64];
	const char *manager = getenv("container"); /* systemd's Container Interface */

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(marks); i++) {
		snprintf(path, sizeof(path), "%s%s", root, marks[i]);
		if (!access(path, F_OK))
			return true;
	}
	if (manager && *manager)
		return true;
	/* In the initial user namespace all users are mapped to themselves. */
	wv_read_line(users, sizeof(users), "%s/proc/self/uid_map", root);
	return *users && (strtoul(users, NULL, 10) != 0 || !strstr(users, "4294967295"));
}
