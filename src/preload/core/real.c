#include "preload/core/real.h"

#include <dlfcn.h>

WV_UNSANITIZED static void *bind(void **bound, const char *symbol)
{
	void *fn = __atomic_load_n(bound, __ATOMIC_RELAXED);

	if (__builtin_expect(!fn, 0)) {
		fn = dlsym(RTLD_NEXT, symbol);
		__atomic_store_n(bound, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

/* Defines real_NAME, which binds symbol SYMBOL once and calls it. */
#define REAL(result, name, symbol, params, args)                                                   \
	static void *bound_##name;                                                                 \
	WV_UNSANITIZED result real_##name params                                                   \
	{                                                                                          \
		return ((result(*) params)bind(&bound_##name, symbol))args;                        \
	}

/* The 64-bit names: the same function on 64-bit machines, and right for large files elsewhere. */
REAL(int, open, "open64", (const char *path, int flags, mode_t mode), (path, flags, mode))
REAL(int, openat, "openat64", (int dir, const char *path, int flags, mode_t mode),
     (dir, path, flags, mode))
REAL(int, close, "close", (int fd), (fd))
REAL(int, close_range, "close_range", (unsigned int first, unsigned int last, int flags),
     (first, last, flags))
REAL(void, closefrom, "closefrom", (int first), (first))
REAL(int, dup, "dup", (int fd), (fd))
REAL(int, dup2, "dup2", (int fd, int to), (fd, to))
REAL(int, dup3, "dup3", (int fd, int to, int flags), (fd, to, flags))
REAL(int, fcntl, "fcntl64", (int fd, int cmd, long arg), (fd, cmd, arg))
REAL(int, ioctl, "ioctl", (int fd, unsigned long request, void *arg), (fd, request, arg))
REAL(ssize_t, read, "read", (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
REAL(ssize_t, write, "write", (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes))
REAL(void *, mmap, "mmap64",
     (void *hint, size_t bytes, int protection, int flags, int fd, off64_t offset),
     (hint, bytes, protection, flags, fd, offset))
REAL(pid_t, fork, "fork", (void), ())
REAL(FILE *, fopen, "fopen64", (const char *path, const char *mode), (path, mode))

void real_bind(void)
{
	bind(&bound_open, "open64");
	bind(&bound_close, "close");
	bind(&bound_ioctl, "ioctl");
	bind(&bound_read, "read");
	bind(&bound_write, "write");
}

static void *symbol(const char *library, int how, const char *name, const char *version)
{
	void *fn = dlvsym(RTLD_NEXT, name, version);
	void *loaded;

	if (fn)
		return fn;
	loaded = dlopen(library, RTLD_LAZY | how);
	return loaded ? dlvsym(loaded, name, version) : NULL;
}

void *real_symbol(const char *library, const char *name, const char *version)
{
	return symbol(library, RTLD_NOLOAD, name, version);
}

/* The linker leaves libibverbs out of a program that finds all its verbs here (--as-needed). */
void *real_verb(const char *name, const char *version)
{
	return symbol("libibverbs.so.1", 0, name, version);
}
