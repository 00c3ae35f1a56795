/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/client/provider_list_file.h"

#include "base/base.h"
#include "preload/core/settings.h"
#include "wire/wire.h"

#include <fcntl.h>
#include <string.h>

#define PATH_CAPACITY 128

/* The file's path, and where in @path its name begins. NULL: the path of the socket is no good. */
static char *file_path(char *path)
{
	char *slash, *name;

	if (!wv_copy_string(path, PATH_CAPACITY, wv_settings()->socket))
		return NULL;
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	if (!slash ||
	    !wv_copy_string(name, PATH_CAPACITY - (size_t)(name - path), WV_PROVIDERS_FILE))
		return NULL;
	return name;
}

/* Does not wait for whoever would write to a FIFO. */
static int open_file(void)
{
	char path[PATH_CAPACITY], *name = file_path(path);
	int fd = name ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	if (fd < 0)
		return -1;
	*name = '\0';
	if (!wv_provider_list_is_trusted(fd, path))
		wv_close_fd(&fd);
	return fd;
}

bool wv_provider_list_file_read(char *text, size_t capacity)
{
	wv_auto_fd fd = open_file();
	ssize_t got = fd < 0 ? -1 : read(fd, text, capacity - 1);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}
