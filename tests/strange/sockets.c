/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded beside the library. Like libvma, keeps a table of the sockets that it has seen made, by
 * number, and relies on seeing each of them closed. It ends the process with status 9 if it has
 * not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PUBLIC	__attribute__((visibility("default")))
#define NUMBERS 1024
#define STALE	9

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static uint64_t made[NUMBERS]; /* cookie of the socket, or 0 */

static uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t bytes = sizeof(cookie);
	int saved = errno;

	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_COOKIE, &cookie, &bytes))
		cookie = 0;
	errno = saved;
	return cookie;
}

/* Whether the table is right about @fd. */
static int check(int fd)
{
	if (fd >= 0 && fd < NUMBERS && made[fd] && made[fd] != cookie_of(fd)) {
		fprintf(stderr, "socket %d was closed unseen\n", fd);
		_Exit(STALE);
	}
	return fd;
}

static int forget(int fd)
{
	if (check(fd) >= 0 && fd < NUMBERS)
		made[fd] = 0;
	return fd;
}

/* Another socket in the table at the number of a new one: its end was not seen. */
static int note(int fd)
{
	if (check(fd) >= 0 && fd < NUMBERS)
		made[fd] = cookie_of(fd);
	return fd;
}

PUBLIC int socket(int domain, int type, int protocol)
{
	return note(NEXT(socket)(domain, type, protocol));
}

PUBLIC int close(int fd)
{
	return NEXT(close)(forget(fd));
}

PUBLIC int dup(int fd)
{
	return NEXT(dup)(check(fd));
}

PUBLIC int dup2(int fd, int to)
{
	check(fd);
	return NEXT(dup2)(fd, forget(to));
}

PUBLIC ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return NEXT(sendmsg)(check(fd), message, flags);
}

PUBLIC ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return NEXT(recvmsg)(check(fd), message, flags);
}

PUBLIC int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	return NEXT(epoll_ctl)(check(epoll), operation, check(fd), event);
}

PUBLIC pid_t fork(void)
{
	return NEXT(fork)();
}

__attribute__((destructor)) static void check_all(void)
{
	for (int fd = 0; fd < NUMBERS; fd++)
		check(fd);
}
