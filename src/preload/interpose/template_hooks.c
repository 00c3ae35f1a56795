/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/template_hooks.h"

#include "base/base.h"
#include "preload/client/provider_list.h"
#include "preload/core/guard.h"
#include "preload/core/settings.h"

WV_PUBLIC void warmverbs_get_ahead(void)
{
	wv_guard_begin();
	wv_provider_list_read();
	wv_provider_list_load(true);
	wv_guard_end();
}

WV_PUBLIC void warmverbs_begin_anew(char **argv)
{
	wv_guard_begin();
	wv_settings_begin_anew(argv);
	wv_guard_end();
}
