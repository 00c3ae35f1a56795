/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/rest.h"

#include "daemon/loop/loop.h"

#define REST_US	    50000
#define ACCURACY_US 10000

bool wv_rest_begin(struct wv_rests *r, struct wv_rest *rest, int64_t since_us)
{
	rest->until_us = since_us + REST_US;
	if (rest->until_us <= wv_now(r->event))
		return false;
	if (TAILQ_EMPTY(&r->all))
		wv_timer_arm(r->timer, rest->until_us);
	TAILQ_INSERT_TAIL(&r->all, rest, link);
	rest->is_on = true;
	return true;
}

void wv_rest_end(struct wv_rests *r, struct wv_rest *rest)
{
	if (rest->is_on)
		TAILQ_REMOVE(&r->all, rest, link);
	rest->is_on = false;
}

static int on_timer(sd_event_source *timer, uint64_t unused, void *data)
{
	struct wv_rests *r = data;
	struct wv_rest *rest;

	(void)unused;
	while ((rest = TAILQ_FIRST(&r->all)) && rest->until_us <= wv_now(r->event)) {
		wv_rest_end(r, rest);
		r->over(rest);
	}
	if (rest)
		wv_timer_arm(timer, rest->until_us);
	return 0;
}

int wv_rests_start(struct wv_rests *r, sd_event *event)
{
	TAILQ_INIT(&r->all);
	r->event = event;
	return wv_timer_add(event, WV_PRIORITY_TIMERS, ACCURACY_US, on_timer, r, &r->timer);
}

void wv_rests_stop(struct wv_rests *r)
{
	r->timer = sd_event_source_disable_unref(r->timer);
}
