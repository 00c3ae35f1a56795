/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/become.h"

#include "base/base.h"
#include "template/arguments.h"
#include "template/descriptors.h"
#include "template/proc_file.h"
#include "template/signals.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

int wv_surroundings_read(const char *status, pid_t client, struct wv_surroundings *s)
{
	uint64_t mask;

	if (!wv_status_number(status, "Umask", 8, &mask) ||
	    !wv_status_number(status, "SigIgn", 16, &s->ignored))
		return -ESRCH;
	s->umask = (mode_t)mask;
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (prlimit(client, (enum __rlimit_resource)i, NULL, &s->limits[i]))
			return -errno;
	errno = 0;
	s->nice = getpriority(PRIO_PROCESS, (id_t)client);
	return -errno;
}

static int take_limits(const struct rlimit *limits)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (setrlimit((enum __rlimit_resource)i, &limits[i]))
			return -errno;
	return 0;
}

static int take_nice(int nice)
{
	if (getpriority(PRIO_PROCESS, 0) == nice)
		return 0;
	return setpriority(PRIO_PROCESS, 0, nice) ? -errno : 0;
}

/* Signals that the program has handlers for, and that it ignores itself. */
static uint64_t handled, ignored;

/* What it has itself. */
static struct rlimit own_limits[RLIM_NLIMITS];
static int own_nice;

int wv_become_prepare(const char *status, uint64_t set_signals)
{
	if (!wv_status_number(status, "SigIgn", 16, &ignored) ||
	    !wv_status_number(status, "SigCgt", 16, &handled))
		return -ESRCH;
	handled |= set_signals & ~ignored;
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((enum __rlimit_resource)i, &own_limits[i]))
			return -errno;
	own_nice = getpriority(PRIO_PROCESS, 0);
	return 0;
}

/* Whoever has the right to do so may still be refused by the kernel: see wv_become(). */
static bool may_raise(const struct wv_surroundings *s)
{
	if (!geteuid())
		return true;
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (s->limits[i].rlim_max > own_limits[i].rlim_max)
			return false;
	return s->nice >= own_nice;
}

const char *wv_surroundings_obstacle(const struct wv_surroundings *s)
{
	const struct rlimit *stack = &s->limits[RLIMIT_STACK];

	if (s->ignored & handled & ~wv_signals_of_libc)
		return "a signal is ignored that the program handles, or has set";
	/* execve(2) places mappings by it, and libc makes the stacks of threads as large. */
	if (stack->rlim_cur != own_limits[RLIMIT_STACK].rlim_cur)
		return "the limit of the stack differs";
	return may_raise(s) ? NULL : "a limit or the niceness cannot be raised to the client's";
}

/*
 * A signal that the program has set something for stays: it would have done so after execve(2),
 * too. But many programs look first whether it is ignored.
 */
static void take_ignored(uint64_t wanted)
{
	for (int i = 1; i <= WV_SIGNALS; i++)
		if (wv_has_signal(wanted & ~ignored & ~handled, i))
			wv_signal_ignore(i);
}

int wv_become(const struct wv_started *s, const struct wv_surroundings *around, int *const *kept,
	      unsigned int n_kept)
{
	int err = fchdir(s->cwd) ? -errno : 0;

	if (!err)
		err = wv_descriptors_take(s, kept, n_kept);
	if (!err)
		err = take_nice(around->nice);
	if (!err)
		err = wv_arguments_take(s);
	take_ignored(around->ignored);
	wv_signals_block(s->blocked);
	umask(around->umask);
	return err ? err : take_limits(around->limits);
}
