/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/providers_file.h"

#include "base/base.h"
#include "wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define NEW_FILE       ".new-" WV_PROVIDERS_FILE
#define WV_NO_PROVIDER "-" /* for a device without a provider: there is nothing to load */

static int write_lines(const struct wv_devices *devices, int dir)
{
	int fd = openat(dir, NEW_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int failed;

	if (!out) {
		wv_close_fd(&fd);
		return -errno;
	}
	fchmod(fd, 0644); /* readable for everybody, whatever the umask */
	for (unsigned int i = 0; i < devices->n; i++) {
		const struct wv_device *device = &devices->all[i];

		/* Programs look in the folder of their own libibverbs, and nowhere else. */
		fprintf(out, "%s %s\n", device->name,
			*device->provider ? basename(device->provider) : WV_NO_PROVIDER);
	}
	failed = ferror(out);
	return fclose(out) || failed ? -EIO : 0;
}

int wv_providers_write(const struct wv_devices *devices, const char *dir)
{
	wv_auto_fd at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (at < 0)
		return -errno;
	err = write_lines(devices, at);
	if (!err && renameat(at, NEW_FILE, at, WV_PROVIDERS_FILE))
		err = -errno;
	if (err)
		unlinkat(at, NEW_FILE, 0);
	return err;
}

int wv_providers_remove(const char *dir)
{
	wv_auto_fd at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0 || unlinkat(at, WV_PROVIDERS_FILE, 0))
		return -errno;
	return 0;
}
