/*
 * The end of the process, at which the daemon is told what it still does not know: a program that
 * never closes its device ends all the same.
 */
#include "base/base.h"
#include "preload/core/context.h"
#include "preload/lease/lease_end.h"
#include "preload/prefork/child.h"

#include <sys/syscall.h>
#include <unistd.h>

__attribute__((destructor)) static void at_exit(void)
{
	if (wv_context_after(NULL) && wv_fd_table_is_mine())
		wv_child_end();
	wv_lease_settle_all();
}

/*
 * Destructors do not run here. In a signal handler libc's function cannot be looked up, and it does
 * no more than this.
 */
static _Noreturn void end_at_once(int status)
{
	wv_lease_settle_all();
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
