/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/small_file.h"

#include "base/base.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

static bool read_start(char *text, size_t capacity, const char *format, va_list args)
{
	char path[PATH_MAX];
	wv_auto_fd fd = -1;
	ssize_t got = -1;

	*text = '\0';
	if (vsnprintf(path, sizeof(path), format, args) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		got = read(fd, text, capacity - 1);
	text[got > 0 ? got : 0] = '\0';
	return got >= 0;
}

bool wv_read_start(char *text, size_t capacity, const char *path, ...)
{
	va_list args;
	bool read;

	va_start(args, path);
	read = read_start(text, capacity, path, args);
	va_end(args);
	return read;
}

bool wv_read_line(char *text, size_t capacity, const char *path, ...)
{
	va_list args;
	bool read;

	va_start(args, path);
	read = read_start(text, capacity, path, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	return read;
}

unsigned long long wv_own_status(const char *root, const char *name, int base,
				 unsigned long long otherwise)
{
	char text[8192];
	const char *at = text;
	size_t length = strlen(name);

	wv_read_start(text, sizeof(text), "%s/proc/self/status", root);
	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, length) && at[length] == ':')
			return strtoull(at + length + 1, NULL, base);
	}
	return otherwise;
}
