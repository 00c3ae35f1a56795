/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outer_signals.h"

#include "base/base.h"

static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

void wv_outer_signals(sigset_t *signals)
{
	sigfillset(signals);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(own_signals); i++)
		sigdelset(signals, own_signals[i]);
}
