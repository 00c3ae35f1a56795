/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/template_hooks.h"

#include "base/base.h"
#include "preload/client/provider_list.h"
#include "preload/core/guard.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/core/trace.h"
#include "preload/interpose/prepare.h"
#include "preload/prefork/child.h"
#include "preload/prefork/own_sets.h"

#include <stdlib.h>

WV_PUBLIC void warmverbs_get_ahead(void)
{
	wv_guard_begin();
	wv_provider_list_read();
	wv_provider_list_load(true);
	wv_guard_end();
}

/* libibverbs keeps its log open, and would write into what the program opens at that number. */
static bool has_log_file(void)
{
	return getenv("VERBS_LOG_FILE");
}

WV_PUBLIC void warmverbs_share(void)
{
	if (wv_settings()->lease && !has_log_file() && wv_real_has_verbs() && wv_real_verbs())
		wv_own_sets_share();
}

WV_PUBLIC void warmverbs_list_devices(void)
{
	if (!wv_own_sets_are_shared())
		return;
	wv_guard_begin();
	wv_own_sets_list();
	wv_guard_end();
}

WV_PUBLIC void warmverbs_make_ready(void)
{
	if (!wv_own_sets_are_shared())
		return;
	wv_prepare();
	wv_own_sets_make();
}

WV_PUBLIC unsigned int warmverbs_own_fds(int *fds, unsigned int most)
{
	return wv_child_is_tracking() ? wv_child_offered_fds(fds, most) : 0;
}

WV_PUBLIC void warmverbs_begin_anew(char **argv)
{
	bool are_same;

	wv_guard_begin();
	are_same = wv_settings_begin_anew(argv);
	if (wv_own_sets_are_shared())
		wv_trace_begin_anew();
	wv_guard_end();
	if (wv_child_is_tracking() && !are_same)
		wv_child_withdraw();
}
