#include "preload/interpose/fork.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/prefork/child.h"
#include "preload/prefork/zygote.h"

#include <pthread.h>
#include <unistd.h>

/* All locks, in the order that they are taken in anywhere. */
static void before(void)
{
	wv_child_lock();
	wv_zygote_before_fork();
	wv_lock();
	wv_context_share_leases();
}

static void in_parent(void)
{
	wv_unlock();
	wv_zygote_after_fork();
	wv_child_unlock();
}

static void in_child(void)
{
	wv_context_leave_parent();
	wv_unlock();
	wv_zygote_in_child();
	wv_child_unlock();
}

void wv_forks_prepare(void)
{
	pthread_atfork(before, in_parent, in_child);
}

/* A process may fork before it has anything to do with devices, and its children may have. */
WV_PUBLIC pid_t fork(void)
{
	pid_t pid;

	if (wv_settings()->prefork)
		wv_context_prepare();
	pid = real_fork();
	if (pid)
		wv_zygote_forked(pid);
	return pid;
}
