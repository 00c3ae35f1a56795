#include "preload/interpose/prepare.h"

#include "preload/core/real.h"
#include "preload/core/trace.h"
#include "preload/interpose/fork_handlers.h"
#include "preload/interpose/verbs_ex.h"
#include "preload/prefork/context_ops.h"

#include <pthread.h>

static void prepare(void)
{
	wv_real_bind_libc();
	wv_fork_handlers_install();
	wv_context_ops_interpose(&wv_verbs_ex);
	wv_trace_begin();
}

void wv_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare);
}
