/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/interpose/fork_handlers.h"

#include "base/base.h"
#include "preload/client/lease_request.h"
#include "preload/client/pool_request.h"
#include "preload/core/context.h"
#include "preload/lease/inherit.h"
#include "preload/lease/open_outcome.h"
#include "preload/memory/stale_mr.h"
#include "preload/prefork/child.h"
#include "preload/prefork/zygote.h"
#include "preload/providers.h"

#include <pthread.h>

/*
 * Called from first to last before a fork, and from last to first after it. So all locks are taken
 * in their usual order, and a child first updates its own contexts.
 */
static const struct {
	void (*before)(void), (*in_parent)(void), (*in_child)(void);
} handlers[] = {
    {wv_child_lock, wv_child_unlock, wv_child_unlock},
    {wv_zygote_before_fork, wv_zygote_after_fork, wv_zygote_in_child},
    {wv_lock, wv_unlock, wv_unlock},
    {wv_inherit_leases, NULL, NULL},
    {NULL, NULL, wv_client_pool_forked},
    {NULL, NULL, wv_open_outcome_forked},
    {NULL, NULL, wv_stale_mr_forked},
    {NULL, NULL, wv_provider_forked},
    {NULL, NULL, wv_lease_request_forked},
    {NULL, NULL, wv_contexts_forked},
};

static void before(void)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(handlers); i++)
		if (handlers[i].before)
			handlers[i].before();
}

static void in_parent(void)
{
	for (unsigned int i = WV_ARRAY_SIZE(handlers); i-- > 0;)
		if (handlers[i].in_parent)
			handlers[i].in_parent();
}

static void in_child(void)
{
	for (unsigned int i = WV_ARRAY_SIZE(handlers); i-- > 0;)
		if (handlers[i].in_child)
			handlers[i].in_child();
}

void wv_fork_handlers_install(void)
{
	pthread_atfork(before, in_parent, in_child);
}
