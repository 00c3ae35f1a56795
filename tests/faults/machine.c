/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into the daemon: a machine whose clock jumps, whose disk hangs, and which is out of
 * files or threads. The file that $MACHINE names says so at each call, so that a test can change
 * its mind while the daemon runs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LOOK_US 1000

/* As machine.py writes it. */
struct machine {
	volatile int64_t clock_s; /* the clock is this much ahead */
	volatile int64_t hold;	  /* fsync() does not return as long as this is set */
	volatile int64_t held;	  /* calls of fsync() that do not return now */
	volatile int64_t accept;  /* the error of accept4(), or 0 */
	volatile int64_t thread;  /* the error of pthread_create(), or 0 */
	volatile int64_t refused; /* calls that got one of these errors */
};

static struct machine *machine(void)
{
	static struct machine *mapped, none;
	const char *path = getenv("MACHINE");
	void *at = MAP_FAILED;
	int fd;

	if (mapped)
		return mapped;
	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd >= 0) {
		at = mmap(NULL, sizeof(none), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	mapped = at == MAP_FAILED ? &none : at;
	return mapped;
}

#define PUBLIC	   __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

PUBLIC int clock_gettime(clockid_t clock, struct timespec *at)
{
	/* Not by dlsym(), which allocates: a sanitizer's allocator asks for the time. */
	int result = (int)syscall(SYS_clock_gettime, clock, at);

	if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		at->tv_sec += machine()->clock_s;
	return result;
}

PUBLIC time_t time(time_t *at)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (at)
		*at = now.tv_sec;
	return now.tv_sec;
}

PUBLIC int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	int result = NEXT(gettimeofday)(at, zone);

	at->tv_sec += machine()->clock_s;
	return result;
}

PUBLIC int fsync(int fd)
{
	machine()->held++;
	while (machine()->hold)
		usleep(LOOK_US);
	machine()->held--;
	return NEXT(fsync)(fd);
}

PUBLIC int accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags)
{
	int error = (int)machine()->accept;

	if (!error)
		return NEXT(accept4)(fd, from, length, flags);
	machine()->refused++;
	errno = error;
	return -1;
}

PUBLIC int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
			  void *(*run)(void *), void *restrict arg)
{
	int error = (int)machine()->thread;

	if (!error)
		return NEXT(pthread_create)(thread, attr, run, arg);
	machine()->refused++;
	return error;
}
