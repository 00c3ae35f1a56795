/* SPDX-License-Identifier: BSD-2-Clause */
#undef _FILE_OFFSET_BITS /* which renames functions */
#include "template/spy_calls.h"

#include "base/base.h"
#include "template/signals.h"
#include "template/stop.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>

static bool has_set_limits;
static uint64_t set_signals;

bool wv_spy_has_set_limits(void)
{
	return has_set_limits;
}

uint64_t wv_spy_set_signals(void)
{
	return set_signals;
}

static void note_signal(int number)
{
	if (wv_stop_place() != WV_STOP_NOWHERE && number > 0 && number <= WV_SIGNALS)
		set_signals |= UINT64_C(1) << (number - 1);
}

WV_PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	__typeof__(&sigaction) next = dlsym(RTLD_NEXT, "sigaction");

	if (action)
		note_signal(number);
	return next(number, action, old);
}

WV_PUBLIC __sighandler_t signal(int number, __sighandler_t handler)
{
	__typeof__(&signal) next = dlsym(RTLD_NEXT, "signal");

	note_signal(number);
	return next(number, handler);
}

static void note_limit(void)
{
	has_set_limits |= wv_stop_place() != WV_STOP_NOWHERE;
}

WV_PUBLIC int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	__typeof__(&setrlimit) next = dlsym(RTLD_NEXT, "setrlimit");

	note_limit();
	return next(resource, limit);
}

WV_PUBLIC int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	__typeof__(&setrlimit64) next = dlsym(RTLD_NEXT, "setrlimit64");

	note_limit();
	return next(resource, limit);
}
