/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This library never calls its own interposed functions. The linker redirects such calls, in this
 * library and in all that is linked into it, to the functions below (--wrap, see meson.build),
 * which call the next definition. socket() is not interposed, but belongs with close(): a library
 * in front that saw only one of them would take the number for a socket of the program's.
 */
#include "preload/core/real.h"

#include <stdarg.h>

/* The linker requires this name, although such names are reserved. */
#define WRAP(result, name, params, args)                                                           \
	result __wrap_##name params;                                                               \
	result __wrap_##name params                                                                \
	{                                                                                          \
		return REAL(name) args;                                                            \
	}

WRAP(int, close, (int fd), (fd))
WRAP(int, close_range, (unsigned int first, unsigned int last, int flags), (first, last, flags))
WRAP(int, dup3, (int fd, int to, int flags), (fd, to, flags))
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(ssize_t, read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
WRAP(ssize_t, write, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes))
WRAP(int, fcntl64, (int fd, int cmd, long arg), (fd, cmd, arg))
WRAP(int, ioctl, (int fd, unsigned long request, void *arg), (fd, request, arg))
WRAP(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
WRAP(void *, mmap64, (void *hint, size_t bytes, int protection, int flags, int fd, off64_t offset),
     (hint, bytes, protection, flags, fd, offset))
