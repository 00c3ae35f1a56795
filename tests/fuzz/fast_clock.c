/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a target that has this file, the monotonic clock runs faster, so that inputs do not wait: for
 * programs with a new lease the daemon pauses, and others have their turn first. libsystemd finds
 * these functions before libc's.
 */
#include "base/base.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define TIMES  100
#define SECOND INT64_C(1000000000)

static int64_t begin_ns;

static int64_t real_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

__attribute__((constructor(101))) static void begin(void)
{
	begin_ns = real_ns();
}

WV_PUBLIC int clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns;

	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	ns = begin_ns + (real_ns() - begin_ns) * TIMES;
	*t = (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
	return 0;
}

/* sd-event names a time of its clock. 0 is none. */
WV_PUBLIC int timerfd_settime(int fd, int flags, const struct itimerspec *set,
			      struct itimerspec *old)
{
	int64_t ns = set->it_value.tv_sec * SECOND + set->it_value.tv_nsec;
	struct itimerspec real = *set;

	if (ns > begin_ns && (flags & TFD_TIMER_ABSTIME)) {
		ns = begin_ns + (ns - begin_ns) / TIMES;
		real.it_value = (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
	}
	return (int)syscall(SYS_timerfd_settime, fd, flags, &real, old);
}
