/* SPDX-License-Identifier: BSD-2-Clause */
/* The device node, which does not exist, and everything else that shows a program a device. */
#include "next.h"
#include "rpc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool is_node(const char *path)
{
	return path && !strcmp(path, STANDIN_NODE) && standin_active();
}

/* The path beside the server's socket of @name. NULL if it is too long. */
static const char *beside_socket(const char *name)
{
	static __thread char path[PATH_MAX];
	const char *socket = getenv(STANDIN_SOCKET);
	const char *slash = strrchr(socket, '/');
	int folder = slash ? (int)(slash - socket) : 0;
	int length = snprintf(path, sizeof(path), "%.*s/%s", folder, socket, name);

	return length < (int)sizeof(path) ? path : NULL;
}

/* Where the folder of nodes really is. */
static const char *moved(const char *path)
{
	if (!path || strcmp(path, STANDIN_NODE_DIR) != 0 || !standin_active())
		return path;
	return beside_socket(STANDIN_NODES);
}

/* The file that exists as long as the node does. NULL if its path is too long. */
static const char *node_file(void)
{
	return beside_socket(STANDIN_NODES "/" STANDIN_NODE_NAME);
}

/* Sends only the request; a descriptor, if the answer has one. */
static int ask(enum standin_op op, int *fd)
{
	struct standin_request request = {.op = op};
	struct iovec iov = {&request, sizeof(request)};
	struct standin_answer answer;
	int error = standin_call(&iov, 1, NULL, 0, &answer);

	if (!error && answer.n_fds)
		*fd = answer.fds[0];
	return error;
}

static int open_node(int flags)
{
	int fd = -1, error = ask(STANDIN_OPEN, &fd);

	if (error) {
		errno = -error;
		return -1;
	}
	if (!(flags & O_CLOEXEC))
		NEXT(fcntl)(fd, F_SETFD, 0);
	return fd;
}

#define MODE_OF(flags)                                                                             \
	({                                                                                         \
		va_list args;                                                                      \
		unsigned int mode;                                                                 \
		va_start(args, flags);                                                             \
		mode = va_arg(args, unsigned int);                                                 \
		va_end(args);                                                                      \
		mode;                                                                              \
	})

STANDIN_PUBLIC int open(const char *path, int flags, ...)
{
	return is_node(path) ? open_node(flags) : NEXT(open)(moved(path), flags, MODE_OF(flags));
}

STANDIN_PUBLIC int open64(const char *path, int flags, ...)
{
	return is_node(path) ? open_node(flags) : NEXT(open64)(moved(path), flags, MODE_OF(flags));
}

STANDIN_PUBLIC int openat(int dir, const char *path, int flags, ...)
{
	return is_node(path) ? open_node(flags)
			     : NEXT(openat)(dir, moved(path), flags, MODE_OF(flags));
}

STANDIN_PUBLIC int openat64(int dir, const char *path, int flags, ...)
{
	return is_node(path) ? open_node(flags)
			     : NEXT(openat64)(dir, moved(path), flags, MODE_OF(flags));
}

/* What a program calls instead if it was built with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

STANDIN_PUBLIC int __open_2(const char *path, int flags)
{
	return is_node(path) ? open_node(flags) : NEXT(__open_2)(moved(path), flags);
}

STANDIN_PUBLIC int __open64_2(const char *path, int flags)
{
	return is_node(path) ? open_node(flags) : NEXT(__open64_2)(moved(path), flags);
}

STANDIN_PUBLIC int __openat_2(int dir, const char *path, int flags)
{
	return is_node(path) ? open_node(flags) : NEXT(__openat_2)(dir, moved(path), flags);
}

STANDIN_PUBLIC int __openat64_2(int dir, const char *path, int flags)
{
	return is_node(path) ? open_node(flags) : NEXT(__openat64_2)(dir, moved(path), flags);
}

static_assert(sizeof(struct stat) == sizeof(struct stat64), "both kinds of stat are one here");

static void fill_in(struct stat *st)
{
	*st = (struct stat){.st_mode = S_IFCHR | 0666,
			    .st_nlink = 1,
			    .st_rdev = makedev(STANDIN_MAJOR, STANDIN_MINOR),
			    .st_blksize = 4096};
}

static int describe_node(struct stat *st)
{
	const char *path = node_file();

	if (!path || NEXT(access)(path, F_OK))
		return -1;
	fill_in(st);
	return 0;
}

STANDIN_PUBLIC int stat(const char *restrict path, struct stat *restrict st)
{
	return is_node(path) ? describe_node(st) : NEXT(stat)(moved(path), st);
}

STANDIN_PUBLIC int stat64(const char *restrict path, struct stat64 *restrict st)
{
	return is_node(path) ? describe_node((struct stat *)st) : NEXT(stat64)(moved(path), st);
}

STANDIN_PUBLIC int lstat(const char *restrict path, struct stat *restrict st)
{
	return is_node(path) ? describe_node(st) : NEXT(lstat)(path, st);
}

STANDIN_PUBLIC int lstat64(const char *restrict path, struct stat64 *restrict st)
{
	return is_node(path) ? describe_node((struct stat *)st) : NEXT(lstat64)(path, st);
}

/* Asks fstat() first: only a socket can be a uverbs file. */
static int correct(int result, int fd, struct stat *st)
{
	uint64_t cookie;

	if (result == 0 && S_ISSOCK(st->st_mode) && standin_is_ufile(fd, &cookie))
		fill_in(st);
	return result;
}

STANDIN_PUBLIC int fstat(int fd, struct stat *st)
{
	return correct(NEXT(fstat)(fd, st), fd, st);
}

STANDIN_PUBLIC int fstat64(int fd, struct stat64 *st)
{
	return correct(NEXT(fstat64)(fd, st), fd, (struct stat *)st);
}

STANDIN_PUBLIC int fstatat(int dir, const char *restrict path, struct stat *restrict st, int flags)
{
	if (is_node(path))
		return describe_node(st);
	return correct(NEXT(fstatat)(dir, path, st, flags), *path ? -1 : dir, st);
}

STANDIN_PUBLIC int fstatat64(int dir, const char *restrict path, struct stat64 *restrict st,
			     int flags)
{
	if (is_node(path))
		return describe_node((struct stat *)st);
	return correct(NEXT(fstatat64)(dir, path, st, flags), *path ? -1 : dir, (struct stat *)st);
}

/* Of a file that is open, asked for by its descriptor alone. */
STANDIN_PUBLIC int statx(int dir, const char *restrict path, int flags, unsigned int mask,
			 struct statx *restrict st)
{
	int result = NEXT(statx)(dir, path, flags, mask, st);
	uint64_t cookie;

	if (result == 0 && !*path && S_ISSOCK(st->stx_mode) && standin_is_ufile(dir, &cookie)) {
		st->stx_mode = S_IFCHR | 0666;
		st->stx_rdev_major = STANDIN_MAJOR;
		st->stx_rdev_minor = STANDIN_MINOR;
	}
	return result;
}

/* Everybody may read and write the node. */
STANDIN_PUBLIC int access(const char *path, int how)
{
	return is_node(path) ? NEXT(access)(node_file(), how & X_OK) : NEXT(access)(path, how);
}

/* Programs built with an older libc call these, and sanitizers do for all programs. */
int __fxstat(int version, int fd, struct stat *st);
int __fxstat64(int version, int fd, struct stat64 *st);
int __xstat(int version, const char *path, struct stat *st);
int __xstat64(int version, const char *path, struct stat64 *st);

STANDIN_PUBLIC int __fxstat(int version, int fd, struct stat *st)
{
	return correct(NEXT(__fxstat)(version, fd, st), fd, st);
}

STANDIN_PUBLIC int __fxstat64(int version, int fd, struct stat64 *st)
{
	return correct(NEXT(__fxstat64)(version, fd, st), fd, (struct stat *)st);
}

STANDIN_PUBLIC int __xstat(int version, const char *path, struct stat *st)
{
	return is_node(path) ? describe_node(st) : NEXT(__xstat)(version, path, st);
}

STANDIN_PUBLIC int __xstat64(int version, const char *path, struct stat64 *st)
{
	if (is_node(path))
		return describe_node((struct stat *)st);
	return NEXT(__xstat64)(version, path, st);
}

/* libibverbs then looks for devices in sysfs, which can be moved; netlink can't. */
STANDIN_PUBLIC int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && standin_active()) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return NEXT(socket)(domain, type, protocol);
}

/* What the provider reads at each open, and what has been slow to read on some kernels. */
static void note_path(const char *path)
{
	int fd, saved = errno;

	if (!strcmp(path, "/proc/cpuinfo") && standin_active())
		ask(STANDIN_CPUINFO, &fd);
	errno = saved;
}

STANDIN_PUBLIC FILE *fopen(const char *restrict path, const char *restrict mode)
{
	note_path(path);
	return NEXT(fopen)(path, mode);
}

STANDIN_PUBLIC FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	note_path(path);
	return NEXT(fopen64)(path, mode);
}
