/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/provider_list_file.h"

#include "base/base.h"
#include "preload/core/settings.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The folder of the socket. */
static bool folder_path(char *path, size_t capacity)
{
	char *slash;

	if (!wv_copy_string(path, capacity, wv_settings()->socket))
		return false;
	slash = strrchr(path, '/');
	if (slash)
		slash[1] = '\0';
	return slash;
}

/*
 * A provider is code that this program will run. So only those may name it who could make the
 * program run other code anyway: root, the user, and whoever owns the folder of the socket, whose
 * leases the program takes.
 */
static bool is_trusted(int fd, const char *folder)
{
	struct stat file, owner;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_mode & (S_IWGRP | S_IWOTH))
		return false;
	return file.st_uid == 0 || file.st_uid == geteuid() ||
	       (!stat(folder, &owner) && file.st_uid == owner.st_uid);
}

/* Does not wait for whoever would write to a FIFO. */
static int open_file(const char *folder)
{
	char path[sizeof(WV_PROVIDERS_FILE) + 128];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s" WV_PROVIDERS_FILE, folder) >= sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && !is_trusted(fd, folder))
		wv_close_fd(&fd);
	return fd;
}

bool wv_provider_list_file_read(char *text, size_t capacity)
{
	char folder[128];
	wv_auto_fd fd = folder_path(folder, sizeof(folder)) ? open_file(folder) : -1;
	ssize_t got = fd < 0 ? -1 : read(fd, text, capacity - 1);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}
