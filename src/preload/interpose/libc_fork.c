/* fork(), of a process that keeps sets ready for its children. */
#include "base/base.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/interpose/prepare.h"
#include "preload/prefork/zygote.h"

/* A process may fork before it has anything to do with devices, and its children may have. */
WV_PUBLIC pid_t fork(void)
{
	pid_t pid;

	if (wv_settings()->prefork)
		wv_prepare();
	pid = REAL(fork)();
	if (pid)
		wv_zygote_forked(pid);
	return pid;
}
