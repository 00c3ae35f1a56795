/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interposes the end of the process, to send the daemon what was not sent yet: some programs never
 * close their device. And sees the end of the first thread, if it ends before the process, by
 * pthread_exit() or because it is cancelled: the process ends with its last thread, which must not
 * be one of this library.
 */
#include "preload/interpose/exit.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/process.h"
#include "preload/core/worker.h"
#include "preload/lease/lease_end.h"
#include "preload/prefork/child.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((destructor)) static void at_exit(void)
{
	if (!wv_context_after(NULL))
		return;
	wv_workers_forbid();
	if (wv_process_is_adopted())
		wv_child_end();
	wv_lease_settle_at_exit();
}

/*
 * Destructors do not run here. libc's _exit() cannot be looked up in a signal handler, and it does
 * no more than this function.
 */
static _Noreturn void end_at_once(int status)
{
	wv_lease_settle_at_exit();
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

WV_PUBLIC void _exit(int status)
{
	end_at_once(status);
}

WV_PUBLIC void _Exit(int status)
{
	end_at_once(status);
}

static pthread_key_t ends_with WV_START;
static bool has_key WV_START; /* 0 may be the key of another library */

static void thread_ends(void *unused)
{
	(void)unused;
	if (gettid() != getpid())
		return;
	wv_workers_forbid();
	if (wv_process_is_mine())
		wv_workers_end();
}

/* Other threads may be the only ones that ever call this library, so it is done here. */
__attribute__((constructor)) static void watch_first_thread(void)
{
	has_key = !pthread_key_create(&ends_with, thread_ends);
	wv_exit_watch_thread();
}

void wv_exit_watch_thread(void)
{
	if (has_key)
		pthread_setspecific(ends_with, &ends_with);
}
