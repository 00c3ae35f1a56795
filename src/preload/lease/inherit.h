/*
 * What is left of a lease at fork() is one for parent and child: either may move a queue pair that
 * the lease has moved ahead, or destroy what unadopted objects use, and the other must not be
 * answered from a lease that does not know of it.
 */
#pragma once

#include "cmdlog/cmdlog.h"

struct wv_context;

/* Memory of all processes that have the lease. */
struct wv_inheritance {
	uint64_t put_back[WV_CMDLOG_MAX_STEPS / 64]; /* as in the context */
	_Alignas(8) uint8_t cmdlog[];
};

/*
 * Before fork(): what is left of each lease, if anything, becomes visible to both sides. Without
 * memory for it, the lease ends here. Call with the lock held.
 */
void wv_inherit_leases(void);

/* The lease has ended in this process. Call with the lock held. */
void wv_inherit_end(struct wv_context *c);
