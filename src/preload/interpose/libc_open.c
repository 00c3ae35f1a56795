/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open() and its variants. libibverbs opens /dev/infiniband/uverbsN for reading and writing
 * (util/open_cdev.c); all other opens are passed on. And fopen(), for files that a provider reads
 * at every open of a device without need.
 *
 * The functions have libc's own names, so the headers must neither rename nor inline them.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "base/base.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/interpose/prepare.h"
#include "preload/lease/device_open.h"
#include "preload/providers.h"
#include "preload/stock/tickets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define NODE_PREFIX "/dev/infiniband/uverbs"

WV_PUBLIC int __open_2(const char *path, int flags);
WV_PUBLIC int __open64_2(const char *path, int flags);
WV_PUBLIC int __openat_2(int dir, const char *path, int flags);
WV_PUBLIC int __openat64_2(int dir, const char *path, int flags);

static bool is_node(const char *path, int flags)
{
	return path && path[0] == '/' && path[1] == 'd' &&
	       !strncmp(path, NODE_PREFIX, sizeof(NODE_PREFIX) - 1) &&
	       (flags & ~O_LARGEFILE) == (O_RDWR | O_CLOEXEC) && wv_settings()->enabled;
}

static int open_any(const char *path, int flags, mode_t mode)
{
	int saved = errno;
	int fd;

	if (!is_node(path, flags))
		return REAL(open64)(path, flags, mode);
	wv_prepare();
	if (!wv_process_is_adopted()) {
		wv_tickets_forget();
		return REAL(open64)(path, flags, mode);
	}
	fd = wv_device_open(path, &wv_scope);
	errno = fd < 0 ? -fd : saved;
	return fd < 0 ? -1 : fd;
}

static int openat_any(int dir, const char *path, int flags, mode_t mode)
{
	if (is_node(path, flags))
		return open_any(path, flags, mode);
	return REAL(openat64)(dir, path, flags, mode);
}

/* The mode argument exists only if the flags say so (open(2)). */
#define OPTIONAL_MODE(flags)                                                                       \
	({                                                                                         \
		mode_t mode_ = 0;                                                                  \
		if ((flags) & (O_CREAT | __O_TMPFILE)) {                                           \
			va_list args_;                                                             \
			va_start(args_, flags);                                                    \
			mode_ = va_arg(args_, mode_t);                                             \
			va_end(args_);                                                             \
		}                                                                                  \
		mode_;                                                                             \
	})

WV_PUBLIC int open(const char *path, int flags, ...)
{
	return open_any(path, flags, OPTIONAL_MODE(flags));
}

WV_PUBLIC int open64(const char *path, int flags, ...)
{
	return open_any(path, flags | O_LARGEFILE, OPTIONAL_MODE(flags));
}

WV_PUBLIC int openat(int dir, const char *path, int flags, ...)
{
	return openat_any(dir, path, flags, OPTIONAL_MODE(flags));
}

WV_PUBLIC int openat64(int dir, const char *path, int flags, ...)
{
	return openat_any(dir, path, flags | O_LARGEFILE, OPTIONAL_MODE(flags));
}

/* Called by the fortified headers if there is no mode. */
WV_PUBLIC int __open_2(const char *path, int flags)
{
	return is_node(path, flags) ? open_any(path, flags, 0) : REAL(__open_2)(path, flags);
}

WV_PUBLIC int __open64_2(const char *path, int flags)
{
	return is_node(path, flags) ? open64(path, flags) : REAL(__open64_2)(path, flags);
}

WV_PUBLIC int __openat_2(int dir, const char *path, int flags)
{
	return is_node(path, flags) ? open_any(path, flags, 0) : REAL(__openat_2)(dir, path, flags);
}

WV_PUBLIC int __openat64_2(int dir, const char *path, int flags)
{
	return is_node(path, flags) ? open64(path, flags) : REAL(__openat64_2)(dir, path, flags);
}

static FILE *fopen_any(const char *path, const char *mode)
{
	if (wv_scope.opening && path && wv_provider_hides_file(path)) {
		errno = ENOENT;
		return NULL;
	}
	return REAL(fopen64)(path, mode);
}

WV_PUBLIC FILE *fopen(const char *path, const char *mode)
{
	return fopen_any(path, mode);
}

WV_PUBLIC FILE *fopen64(const char *path, const char *mode)
{
	return fopen_any(path, mode);
}
