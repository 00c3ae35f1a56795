/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/container.h"

#include "base/base.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define RUNTIME_ID_DIGITS 32
#define UNIFIED		  "0::" /* cgroup version 2 (cgroups(7)) */

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

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

size_t wv_container_path(const char *path)
{
	size_t at = 0, first = 0;

	while (path[at] == '/') {
		size_t bytes = strcspn(path + at + 1, "/");

		if (is_container(path + at + 1, bytes))
			return at + 1 + bytes;
		at += 1 + bytes;
		if (!first)
			first = at;
	}
	return first;
}

/* A descriptor that stands for the process, whatever becomes of its number; or -1. */
static int pidfd_of(int peer, pid_t pid)
{
	int pidfd = -1;
	socklen_t bytes = sizeof(pidfd);

	if (!getsockopt(peer, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &bytes))
		return pidfd;
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static bool is_alive(int pidfd)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	return !poll(&ended, 1, 0);
}

static bool read_cgroup(pid_t pid, char *text, size_t capacity)
{
	char path[64];
	wv_auto_fd fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, capacity - 1);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

uint64_t wv_container_of(int peer, pid_t pid)
{
	wv_auto_fd pidfd = pidfd_of(peer, pid);
	char text[4096], *line;

	if (pidfd < 0 || !read_cgroup(pid, text, sizeof(text)) || !is_alive(pidfd))
		return 0;
	line = strstr(text, UNIFIED);
	if (!line)
		return 0;
	line += strlen(UNIFIED);
	line[strcspn(line, "\n")] = '\0';
	return wv_hash(WV_HASH_START, line, wv_container_path(line));
}
