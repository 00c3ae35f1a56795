/* SPDX-License-Identifier: BSD-2-Clause */
/* fork(), for a process that keeps sets ready for its children. */
#include "base/base.h"
#include "preload/core/guard.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/interpose/prepare.h"
#include "preload/prefork/zygote.h"

/*
 * Prepares already here: a process that never uses RDMA itself may have children that do. Not in a
 * signal handler that interrupts that.
 */
WV_PUBLIC pid_t fork(void)
{
	pid_t pid;

	if (!wv_guard_is_on() && wv_settings()->prefork)
		wv_prepare();
	pid = REAL(fork)();
	if (pid)
		wv_zygote_forked(pid);
	return pid;
}
