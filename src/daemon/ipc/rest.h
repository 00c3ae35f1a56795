/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with a new lease is about to open its device and to connect. What it says meanwhile can
 * wait: to read that would take the processor from it. So its connection rests for a while.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

/* Part of what rests. */
struct wv_rest {
	TAILQ_ENTRY(wv_rest) link;
	int64_t until_us;
	bool is_on;
};

struct wv_rests {
	void (*over)(struct wv_rest *rest); /* it has rested long enough; set by the owner */
	sd_event *event;
	sd_event_source *timer;
	TAILQ_HEAD(, wv_rest) all; /* the first that began is the first to end */
};

/* Prepares for rests. 0 or -errno. */
int wv_rests_start(struct wv_rests *r, sd_event *event);

/* Frees what that made; nothing rests any more. */
void wv_rests_stop(struct wv_rests *r);

/* Begins a rest that counts from @since_us. False: that was over already. */
bool wv_rest_begin(struct wv_rests *r, struct wv_rest *rest, int64_t since_us);

/* Ends a rest early. Harmless if there is none. */
void wv_rest_end(struct wv_rests *r, struct wv_rest *rest);
