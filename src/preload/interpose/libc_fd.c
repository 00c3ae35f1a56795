/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interposes every call that closes a descriptor or makes it refer to another file. The kernel
 * reuses numbers at once: without this, a pipe that gets the former number of a ufile would be
 * taken for the ufile. tests/lab has a case for each call.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/prefork/zygote.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <unistd.h>

static bool any_files(void)
{
	return __atomic_load_n(&wv_n_fds, __ATOMIC_RELAXED);
}

static void resume_sets(bool paused)
{
	if (paused)
		wv_zygote_resume();
}

/*
 * Stops tracking the descriptors of a range. No descriptor may be opened for a set until the range
 * is closed: it would be closed too, unnoticed. Returns whether sets were paused for that.
 */
static bool forget_range(unsigned int first, unsigned int last)
{
	bool paused = wv_zygote_pause();

	for (unsigned int fd = first; fd <= last && fd < WV_MAX_FD && any_files(); fd++)
		wv_context_close((int)fd);
	return paused;
}

static int tracked(int fd, int copy)
{
	wv_context_dup(fd, copy);
	return copy;
}

WV_PUBLIC int close(int fd)
{
	bool watched = wv_context_is_watched(fd), paused;
	int result;

	if (watched && wv_zygote_is_at_work())
		return wv_context_close_watched(fd);
	paused = watched && wv_zygote_pause();
	wv_context_close(fd);
	result = REAL(close)(fd);
	resume_sets(paused);
	return result;
}

WV_PUBLIC int close_range(unsigned int first, unsigned int last, int flags)
{
	/* A call that the kernel refuses closes nothing (close_range(2)). */
	bool closes = first <= last && !(flags & ~CLOSE_RANGE_UNSHARE);
	bool paused = closes && forget_range(first, last);
	int result = REAL(close_range)(first, last, flags);

	resume_sets(paused);
	return result;
}

WV_PUBLIC void closefrom(int first)
{
	bool paused = forget_range(first < 0 ? 0 : (unsigned int)first, WV_MAX_FD);

	REAL(closefrom)(first);
	resume_sets(paused);
}

WV_PUBLIC int dup(int fd)
{
	return tracked(fd, REAL(dup)(fd));
}

/*
 * After a successful call @to is a copy of @fd, whatever it was before. A call that failed changed
 * nothing.
 */
static int replaced(int fd, int to, int result, bool paused)
{
	if (result >= 0 && fd != to) {
		wv_context_close(to);
		wv_context_dup(fd, to);
	}
	resume_sets(paused);
	return result;
}

WV_PUBLIC int dup2(int fd, int to)
{
	bool paused = wv_zygote_pause();

	return replaced(fd, to, REAL(dup2)(fd, to), paused);
}

WV_PUBLIC int dup3(int fd, int to, int flags)
{
	bool paused = wv_zygote_pause();

	return replaced(fd, to, REAL(dup3)(fd, to, flags), paused);
}

static int fcntl_any(int fd, int cmd, long arg)
{
	int result = REAL(fcntl64)(fd, cmd, arg);

	return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? tracked(fd, result) : result;
}

/* The argument is absent, an int or a pointer. Like libc, take it as the widest type. */
#define OPTIONAL_ARG(last)                                                                         \
	({                                                                                         \
		va_list args_;                                                                     \
		long arg_;                                                                         \
		va_start(args_, last);                                                             \
		arg_ = va_arg(args_, long);                                                        \
		va_end(args_);                                                                     \
		arg_;                                                                              \
	})

WV_PUBLIC int fcntl(int fd, int cmd, ...)
{
	return fcntl_any(fd, cmd, OPTIONAL_ARG(cmd));
}

WV_PUBLIC int fcntl64(int fd, int cmd, ...);
WV_PUBLIC int fcntl64(int fd, int cmd, ...)
{
	return fcntl_any(fd, cmd, OPTIONAL_ARG(cmd));
}
