/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections of this process, as a client, to its daemon. One serves one thread at a time, and
 * there are as many as threads were connected to services at the same time.
 */
#pragma once

#include "wire/service_note.h"

struct wv_service_route;

/*
 * One that no other thread uses, until wv_service_route_put(). @fresh: a new one. 0 and *@route; or
 * -errno.
 */
int wv_service_route_take(struct wv_service_route **route, bool fresh);

/* Gives it back. @err: what it was used for failed so that it is of no use to others any more. */
void wv_service_route_put(struct wv_service_route *route, int err);

/*
 * Asks the daemon, and waits until @deadline for its answer to this question. 0 and *@note is the
 * answer; -ETIMEDOUT, and the daemon is told that nobody waits any more; or -errno: the route is of
 * no use.
 */
int wv_service_route_ask(struct wv_service_route *route, struct wv_service_note *note,
			 int64_t deadline);

/* The connection that was asked for last; and the end of @number, of which the daemon is told. */
void wv_service_route_keep(struct wv_service_route *route);
void wv_service_route_leave(struct wv_service_route *route, uint64_t number);
