/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/fork_handlers.h"

#include "base/base.h"
#include "preload/client/lease_request.h"
#include "preload/client/pool_request.h"
#include "preload/core/context.h"
#include "preload/core/guard.h"
#include "preload/core/process.h"
#include "preload/core/worker.h"
#include "preload/interpose/exit.h"
#include "preload/lease/inherit.h"
#include "preload/lease/open_outcome.h"
#include "preload/memory/stale_mr.h"
#include "preload/pairs/keeper_sock.h"
#include "preload/prefork/child.h"
#include "preload/prefork/zygote.h"
#include "preload/providers.h"
#include "preload/spares/maker.h"
#include "preload/stock/tickets.h"

#include <pthread.h>

/*
 * Called from first to last before a fork, and from last to first after it. So all locks are taken
 * in their usual order, and a child first updates its own contexts.
 */
static const struct {
	void (*before)(void), (*in_parent)(void), (*in_child)(void);
} handlers[] = {
    {NULL, wv_workers_let_go, wv_workers_let_go},
    {NULL, wv_maker_after_fork, wv_maker_in_child},
    {wv_child_lock, wv_child_unlock, wv_child_unlock},
    {wv_zygote_before_fork, wv_zygote_after_fork, wv_zygote_in_child},
    {wv_lock, wv_unlock, wv_unlock},
    {wv_inherit_leases, NULL, NULL},
    {wv_tickets_share, NULL, NULL},
    {NULL, NULL, wv_keeper_sock_forked},
    {NULL, NULL, wv_client_pool_forked},
    {NULL, NULL, wv_open_outcome_forked},
    {NULL, NULL, wv_stale_mr_forked},
    {NULL, NULL, wv_provider_forked},
    {NULL, NULL, wv_lease_request_forked},
    {NULL, NULL, wv_contexts_forked},
    {NULL, NULL, wv_exit_watch_thread},
    {wv_worker_starts_hold, wv_worker_starts_let_go, wv_worker_starts_forked},
};

/*
 * The forks under way in this thread that are left alone: parent and child stay as they are. Some
 * are in the middle of a change, or of a verb that a worker waits for: those of a signal handler,
 * and of other fork handlers between ours. Others are in a process that has not taken the state
 * over (core/process.h): a lock there may be held by a thread that only its parent has. A fork
 * inside another ends first, so a count is enough.
 */
static __thread unsigned int left_alone __attribute__((tls_model("initial-exec")));

static bool hold_workers(void)
{
	if (!wv_workers_hold())
		return false;
	if (wv_maker_before_fork())
		return true;
	wv_workers_let_go();
	return false;
}

static void before(void)
{
	if (left_alone || wv_guard_is_on() || !wv_process_is_adopted() || !hold_workers()) {
		left_alone++;
		return;
	}
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(handlers); i++)
		if (handlers[i].before)
			handlers[i].before();
}

static bool was_left_alone(void)
{
	return left_alone && left_alone--;
}

static void in_parent(void)
{
	if (was_left_alone())
		return;
	for (unsigned int i = WV_ARRAY_SIZE(handlers); i-- > 0;)
		if (handlers[i].in_parent)
			handlers[i].in_parent();
}

static void in_child(void)
{
	if (was_left_alone())
		return;
	for (unsigned int i = WV_ARRAY_SIZE(handlers); i-- > 0;)
		if (handlers[i].in_child)
			handlers[i].in_child();
}

void wv_fork_handlers_install(void)
{
	pthread_atfork(before, in_parent, in_child);
}
