/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/quiet.h"

#include "base/base.h"
#include "base/because.h"
#include "base/mappings.h"
#include "template/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

/* Each thread is a folder; "." and ".." are the other links. */
static int check_threads(struct wv_reason_text *a)
{
	struct stat tasks;

	if (stat("/proc/self/task", &tasks))
		return -errno;
	return tasks.st_nlink > 3 ? wv_because(a, "it has a second thread") : 0;
}

/* A child of a template has no way to wait for the template's. */
static int check_children(struct wv_reason_text *a)
{
	siginfo_t info;

	if (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL))
		return wv_because(a, "it has children");
	return errno == ECHILD ? 0 : -errno;
}

/* fork(2): timers are not inherited. */
static int check_timers(struct wv_reason_text *a)
{
	static const enum __itimer_which intervals[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
	wv_auto_file timers = fopen("/proc/self/timers", "re");
	struct itimerval interval;

	for (size_t i = 0; i < WV_ARRAY_SIZE(intervals); i++)
		if (!getitimer(intervals[i], &interval) &&
		    (interval.it_value.tv_sec || interval.it_value.tv_usec))
			return wv_because(a, "it has set a timer");
	return timers && getc(timers) != EOF ? wv_because(a, "it has a POSIX timer") : 0;
}

static int check_signals(struct wv_reason_text *a)
{
	sigset_t pending;

	if (sigpending(&pending))
		return -errno;
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&pending, i) == 1)
			return wv_because(a, "signal %d waits for it", i);
	return 0;
}

static int check_descriptor(struct wv_reason_text *a, int fd)
{
	char link[64], target[PATH_MAX] = "";
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	bytes = readlink(link, target, sizeof(target) - 1);
	return wv_because(a, "it has opened %s (descriptor %d)", bytes > 0 ? target : "something",
			  fd);
}

struct known {
	int own, behind, found;
};

static int is_unknown(void *data, int fd)
{
	struct known *k = data;

	if (fd <= STDERR_FILENO || (fd >= k->own && fd < k->behind))
		return 0;
	k->found = fd;
	return 1;
}

static int check_descriptors(struct wv_reason_text *a, int own, int behind)
{
	struct known known = {.own = own, .behind = behind};
	int found = wv_numbers_each(is_unknown, &known);

	return found > 0 ? check_descriptor(a, known.found) : found;
}

static int check_mapping(struct wv_reason_text *a, const struct wv_mapping *m)
{
	if (m->is_shared && m->prot & PROT_WRITE)
		return wv_because(a, "it shares memory (at %#zx)", m->start);
	if (m->is_locked)
		return wv_because(a, "it has locked memory (at %#zx)", m->start);
	return m->is_left_out ? wv_because(a, "fork() leaves out memory of it (at %#zx)", m->start)
			      : 0;
}

/* It goes to files, for a template, and would be lost for its starts. */
static int check_output(struct wv_reason_text *a)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		char text[64] = "";
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		if (n > 0)
			return wv_because(a, "it has said: %.*s", (int)strcspn(text, "\n"), text);
	}
	return 0;
}

static int check_memory(struct wv_reason_text *a)
{
	wv_auto_free struct wv_mapping *mappings = NULL;
	size_t n = wv_mappings_read(0, UINTPTR_MAX, &mappings);
	int found = n ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !found; i++)
		found = check_mapping(a, &mappings[i]);
	return found;
}

int wv_quiet_check(int own, int behind, struct wv_reason_text *why)
{
	int (*const checks[])(struct wv_reason_text *) = {
	    check_threads, check_children, check_timers, check_signals, check_output, check_memory};
	int found = check_descriptors(why, own, behind);

	for (size_t i = 0; i < WV_ARRAY_SIZE(checks) && !found; i++)
		found = checks[i](why);
	return found;
}
