/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/container.h"

#include "base/base.h"
#include "daemon/tenants/pidfd.h"

#include <ctype.h>
#include <string.h>

#define RUNTIME_ID_DIGITS 32
#define UNIFIED		  "0::" /* cgroup version 2 (cgroups(7)) */

static bool ends_in(const char *name, size_t bytes, const char *suffix)
{
	size_t n = strlen(suffix);

	return bytes > n && !memcmp(name + bytes - n, suffix, n);
}

static bool has_runtime_id(const char *name, size_t bytes)
{
	unsigned int digits = 0;

	for (size_t i = 0; i < bytes && digits < RUNTIME_ID_DIGITS; i++)
		digits = isxdigit((unsigned char)name[i]) ? digits + 1 : 0;
	return digits == RUNTIME_ID_DIGITS;
}

static bool is_container(const char *name, size_t bytes)
{
	return ends_in(name, bytes, ".scope") || ends_in(name, bytes, ".service") ||
	       has_runtime_id(name, bytes);
}

static bool begins_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* All logins of a user, and the user's own services, are below it. */
static bool is_user(const char *name, size_t bytes)
{
	return begins_with(name, "user-") && ends_in(name, bytes, ".slice");
}

static bool is_slurm(const char *name, size_t bytes)
{
	static const char service[] = "slurmstepd.scope";

	return ends_in(name, bytes, service) ||
	       (bytes == strlen(service) && begins_with(name, service)) ||
	       (bytes == strlen("slurm") && begins_with(name, "slurm"));
}

/* How long the first name of @path is, with its slash, if the name begins with @prefix; else 0. */
static size_t first_name(const char *path, const char *prefix)
{
	return *path == '/' && begins_with(path + 1, prefix) ? 1 + strcspn(path + 1, "/") : 0;
}

/* How much of @path, which is below Slurm's own cgroup, names a job; 0: nothing. */
static size_t job_path(const char *path)
{
	size_t user = first_name(path, "uid_");
	size_t job = first_name(path + user, "job_");

	return job ? user + job : 0;
}

size_t wv_container_path(const char *path)
{
	size_t at = 0, first = 0;

	while (path[at] == '/') {
		const char *name = path + at + 1;
		size_t bytes = strcspn(name, "/");

		if (is_slurm(name, bytes))
			return at + 1 + bytes + job_path(name + bytes);
		if (is_user(name, bytes) || is_container(name, bytes))
			return at + 1 + bytes;
		at += 1 + bytes;
		if (!first)
			first = at;
	}
	return first;
}

uint64_t wv_container_in(const char *path)
{
	wv_auto_file file = fopen(path, "re");
	wv_auto_free char *line = NULL;
	size_t capacity = 0;

	while (file && getline(&line, &capacity, file) > 0) {
		char *cgroup = line + strlen(UNIFIED);

		if (!begins_with(line, UNIFIED))
			continue; /* names in other hierarchies may have any form */
		cgroup[strcspn(cgroup, "\n")] = '\0';
		return wv_hash(WV_HASH_START, cgroup, wv_container_path(cgroup));
	}
	return 0;
}

uint64_t wv_container_of(int peer, pid_t pid)
{
	wv_auto_fd pidfd = wv_pidfd_of(peer, pid);
	char path[64];
	uint64_t container;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	container = pidfd < 0 ? 0 : wv_container_in(path);
	return container && !wv_pidfd_has_ended(pidfd) ? container : 0;
}
