/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/guard.h"

#include <pthread.h>

static __thread struct {
	volatile unsigned int depth; /* a signal handler reads it */
	int cancel_state;	     /* outside of all sections */
} guard __attribute__((tls_model("initial-exec")));

void wv_guard_begin(void)
{
	if (!guard.depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancel_state);
}

/* The thread may end in pthread_setcancelstate(), or a signal handler may begin a section. */
void wv_guard_end(void)
{
	int state = guard.cancel_state;

	if (!--guard.depth)
		pthread_setcancelstate(state, NULL);
}

bool wv_guard_is_on(void)
{
	return guard.depth;
}
