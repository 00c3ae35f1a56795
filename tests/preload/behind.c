/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second preload, for behind warmverbs' or in front of it: counts the calls that reach it, and
 * plays a device node, so that what the preload does with one can be tried without RDMA.
 */
#include "behind.h"

#include <dlfcn.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

#define PUBLIC __attribute__((visibility("default")))

static unsigned int counts[CALLS];

PUBLIC unsigned int behind_count(enum call call)
{
	return __atomic_load_n(&counts[call], __ATOMIC_RELAXED);
}

static void *next(enum call call, const char *name)
{
	static void *bound[CALLS];
	void *fn = __atomic_load_n(&bound[call], __ATOMIC_RELAXED);

	__atomic_fetch_add(&counts[call], 1, __ATOMIC_RELAXED);
	if (!fn) {
		fn = dlsym(RTLD_NEXT, name);
		__atomic_store_n(&bound[call], fn, __ATOMIC_RELAXED);
	}
	return fn;
}

#define NEXT(call, name, result, ...) ((result(*)(__VA_ARGS__))next(call, name))

static void (*at_open)(void);

PUBLIC void behind_at_open(void (*function)(void))
{
	at_open = function;
}

static int is_node(const char *path)
{
	return !strcmp(path, BEHIND_NODE);
}

PUBLIC int open64(const char *path, int flags, ...)
{
	va_list args;
	unsigned int mode;

	va_start(args, flags);
	mode = va_arg(args, unsigned int);
	va_end(args);
	if (is_node(path)) {
		if (at_open)
			at_open();
		return memfd_create("node", MFD_CLOEXEC);
	}
	return NEXT(CALL_OPEN, "open64", int, const char *, int, unsigned int)(path, flags, mode);
}

PUBLIC int openat64(int dir, const char *path, int flags, ...)
{
	va_list args;
	unsigned int mode;

	va_start(args, flags);
	mode = va_arg(args, unsigned int);
	va_end(args);
	return NEXT(CALL_OPENAT, "openat64", int, int, const char *, int,
		    unsigned int)(dir, path, flags, mode);
}

PUBLIC int close(int fd)
{
	return NEXT(CALL_CLOSE, "close", int, int)(fd);
}

PUBLIC int close_range(unsigned int first, unsigned int last, int flags)
{
	return NEXT(CALL_CLOSE_RANGE, "close_range", int, unsigned int, unsigned int,
		    int)(first, last, flags);
}

PUBLIC void closefrom(int first)
{
	NEXT(CALL_CLOSEFROM, "closefrom", void, int)(first);
}

PUBLIC int dup(int fd)
{
	return NEXT(CALL_DUP, "dup", int, int)(fd);
}

PUBLIC int dup2(int fd, int to)
{
	return NEXT(CALL_DUP2, "dup2", int, int, int)(fd, to);
}

PUBLIC int dup3(int fd, int to, int flags)
{
	return NEXT(CALL_DUP3, "dup3", int, int, int, int)(fd, to, flags);
}

PUBLIC int fcntl64(int fd, int cmd, ...)
{
	va_list args;
	long arg;

	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	return NEXT(CALL_FCNTL, "fcntl64", int, int, int, long)(fd, cmd, arg);
}

PUBLIC int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL) {
		__atomic_fetch_add(&counts[CALL_IOCTL], 1, __ATOMIC_RELAXED);
		return 0;
	}
	return NEXT(CALL_IOCTL, "ioctl", int, int, unsigned long, void *)(fd, request, arg);
}

PUBLIC ssize_t read(int fd, void *buffer, size_t bytes)
{
	return NEXT(CALL_READ, "read", ssize_t, int, void *, size_t)(fd, buffer, bytes);
}

PUBLIC ssize_t write(int fd, const void *buffer, size_t bytes)
{
	return NEXT(CALL_WRITE, "write", ssize_t, int, const void *, size_t)(fd, buffer, bytes);
}

PUBLIC void *mmap64(void *hint, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	return NEXT(CALL_MMAP, "mmap64", void *, void *, size_t, int, int, int,
		    off64_t)(hint, bytes, protection, flags, fd, offset);
}

PUBLIC pid_t fork(void)
{
	return NEXT(CALL_FORK, "fork", pid_t, void)();
}
