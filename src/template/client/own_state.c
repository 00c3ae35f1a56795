/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/client/own_state.h"

#include "base/base.h"
#include "template/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

static bool has_children(void)
{
	siginfo_t info;

	return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || errno != ECHILD;
}

static bool has_timer(void)
{
	static const int all[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
	struct itimerval timer;

	for (size_t i = 0; i < WV_ARRAY_SIZE(all); i++)
		if (!getitimer(all[i], &timer) && (timer.it_value.tv_sec || timer.it_value.tv_usec))
			return true;
	return false;
}

/*
 * A lock of fcntl(2) belongs to this process; one of flock(2), to the file. The kernel names the
 * first lock that it finds from a place on.
 */
static int is_locked(void *unused, int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat st;

	(void)unused;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	while (!fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK) {
		if (lock.l_pid == getpid())
			return true;
		if (!lock.l_len)
			return false; /* it goes up to the end */
		lock = (struct flock){
		    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = lock.l_start + lock.l_len};
	}
	return false;
}

static bool has_locks(void)
{
	return wv_numbers_each(is_locked, NULL) > 0;
}

static bool has_pending_signals(void)
{
	sigset_t pending;

	return !sigpending(&pending) && !sigisemptyset(&pending);
}

/* The loader then ignores what makes a process a template. */
static bool has_other_rights(void)
{
	return getauxval(AT_SECURE) || getuid() != geteuid() || getgid() != getegid();
}

/* Of a list of paths: folders, or libraries, which may be names alone. */
static bool is_relative(const char *list, bool may_be_names)
{
	while (*list) {
		size_t length = strcspn(list, ": ");
		bool is_name = may_be_names && !memchr(list, '/', length);

		if (*list != '/' && !is_name)
			return true;
		list += length;
		list += *list != '\0';
		if (!*list && list[-1] == ':' && !may_be_names)
			return true; /* the empty last one is the working directory */
	}
	return false;
}

static bool has_relative_libraries(void)
{
	const char *folders = getenv("LD_LIBRARY_PATH"), *preload = getenv("LD_PRELOAD");

	return (folders && is_relative(folders, false)) || (preload && is_relative(preload, true));
}

const char *wv_own_state_obstacle(void)
{
	static const struct {
		bool (*is_there)(void);
		const char *name;
	} all[] = {
	    {has_children, "this process has children"},
	    {has_timer, "this process has set a timer"},
	    {has_pending_signals, "signals wait for this process"},
	    {has_other_rights, "this process has other rights than its user"},
	    {has_locks, "this process holds locks of files"},
	    {has_relative_libraries, "libraries are searched for in the working directory"},
	};

	for (size_t i = 0; i < WV_ARRAY_SIZE(all); i++)
		if (all[i].is_there())
			return all[i].name;
	return NULL;
}
