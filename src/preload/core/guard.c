/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/guard.h"

#include <pthread.h>

static __thread struct {
	volatile unsigned int depth;   /* a signal handler reads it */
	int cancel_state, cancel_type; /* outside of all sections */
} guard __attribute__((tls_model("initial-exec")));

/*
 * An asynchronous cancellation that is under way as a signal asks only for the type (glibc 2.36,
 * sigcancel_handler()), so the type is changed too.
 */
void wv_guard_begin(void)
{
	if (guard.depth++)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancel_state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &guard.cancel_type);
}

/* The thread may end here, or a signal handler may begin a section. */
void wv_guard_end(void)
{
	int state = guard.cancel_state, type = guard.cancel_type;

	if (--guard.depth)
		return;
	pthread_setcanceltype(type, NULL);
	pthread_setcancelstate(state, NULL);
}

bool wv_guard_is_on(void)
{
	return guard.depth;
}
