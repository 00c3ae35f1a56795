/* A program that never closes its device ends all the same. */
#include "preload/core/context.h"
#include "preload/lease/lease_end.h"
#include "preload/prefork/child.h"

__attribute__((destructor)) static void settle_all(void)
{
	if (!wv_context_after(NULL) || !wv_fd_table_is_mine())
		return;
	wv_child_end();
	if (wv_try_lock())
		return;
	wv_each_context(c) if (c->files) wv_lease_settle(c);
	wv_unlock();
}
