/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections of this process, as a client, to its daemon. One serves one thread at a time, and
 * there are as many as threads were connected to services at the same time.
 */
#pragma once

#include "service/conn_end.h"

struct wv_service_route;

/* One that no other thread uses, until wv_service_route_put(). 0 and *@route; or -errno. */
int wv_service_route_take(struct wv_service_route **route);

/* Whether something was asked there before, so that it may have been lost unseen since. */
bool wv_service_route_is_used(const struct wv_service_route *route);

/* Gives it back; @err is the result of wv_service_route_ask(). */
void wv_service_route_put(struct wv_service_route *route, int err);

/*
 * Asks the daemon, and waits until @deadline for its answer to this question. 0 and *@note is the
 * answer; -ETIMEDOUT, and the daemon is told that nobody waits any more; or -errno.
 */
int wv_service_route_ask(struct wv_service_route *route, struct wv_service_note *note,
			 int64_t deadline);

/* Waits until @deadline for what else the daemon says about question @number. 0 or -errno. */
int wv_service_route_hear(struct wv_service_route *route, uint64_t number,
			  struct wv_service_note *note, int64_t deadline);

/* @end was asked for here: its connection lasts. */
void wv_service_route_keep(struct wv_service_route *route, struct wv_service_conn_end *end);

/* Whether the connection of @end lasts, as far as the daemon has said. */
bool wv_service_route_lasts(struct wv_service_conn_end *end);

/* Frees @end, whose connection lasts no longer; the daemon is told as soon as it reads. */
void wv_service_route_leave(struct wv_service_conn_end *end);
