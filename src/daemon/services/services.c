/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/services.h"

#include "base/base.h"
#include "daemon/services/asks.h"
#include "daemon/services/conns.h"
#include "daemon/services/processes.h"

static int on_again(sd_event_source *timer, uint64_t now, void *data)
{
	struct wv_services *s = data;
	bool any = wv_service_offers_confirm(s);

	(void)timer;
	(void)now;
	any |= wv_asks_pass_on(s);
	any |= wv_conns_say_rest(s);
	if (any)
		wv_services_try_again(s);
	return 0;
}

int wv_services_start(struct wv_services *s)
{
	LIST_INIT(&s->processes);
	return wv_timer_add(s->event, WV_PRIORITY_TIMERS, 1000, on_again, s, &s->again);
}

void wv_services_stop(struct wv_services *s)
{
	wv_each_conn (&s->conns, conn)
		wv_conn_drop(s, conn);
	free(s->conns.slots);
	s->conns = (struct wv_conn_table){.slots = NULL};
	s->again = sd_event_source_disable_unref(s->again);
}
