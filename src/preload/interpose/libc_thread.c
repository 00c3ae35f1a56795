/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of main() by pthread_exit(). The process ends with its last thread, which must not be one
 * of this library.
 */
#include "base/base.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/worker.h"

static void before_exit(void)
{
	if (gettid() != getpid())
		return;
	wv_workers_forbid();
	if (wv_process_is_mine())
		wv_workers_end();
}

WV_PUBLIC _Noreturn void pthread_exit(void *result)
{
	before_exit();
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

WV_PUBLIC _Noreturn void thrd_exit(int result)
{
	before_exit();
	REAL(thrd_exit)(result);
	__builtin_unreachable();
}
