/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/services.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/services/conns.h"

int wv_services_start(struct wv_services *s)
{
	LIST_INIT(&s->processes);
	return wv_timer_add(s->event, WV_PRIORITY_TIMERS, 0, wv_conns_tell_again, s, &s->again);
}

void wv_services_stop(struct wv_services *s)
{
	wv_each_conn (&s->conns, conn)
		wv_conn_drop(s, conn);
	free(s->conns.slots);
	s->conns = (struct wv_conn_table){.slots = NULL};
	s->again = sd_event_source_disable_unref(s->again);
}
