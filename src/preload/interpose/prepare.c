/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/prepare.h"

#include "preload/core/guard.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/trace.h"
#include "preload/interpose/exit.h"
#include "preload/interpose/fork_handlers.h"
#include "preload/interpose/verbs_objects.h"
#include "preload/prefork/context_ops.h"

#include <pthread.h>

static void prepare(void)
{
	wv_process_adopt();
	wv_fork_handlers_install();
	wv_exit_watch_thread(); /* a child of another thread, before there were handlers */
	wv_context_ops_interpose(&wv_verbs_ex);
	wv_trace_begin();
}

/*
 * Binding takes the loader's lock, so it is not done inside pthread_once(3), which would hold a
 * lock meanwhile.
 */
void wv_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static bool prepared;

	if (__atomic_load_n(&prepared, __ATOMIC_ACQUIRE))
		return;
	wv_real_bind_libc();
	wv_guard_begin();
	pthread_once(&once, prepare);
	wv_guard_end();
	__atomic_store_n(&prepared, true, __ATOMIC_RELEASE);
}
