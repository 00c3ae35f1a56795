/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is left of a lease at fork() is shared by parent and child. Either may move a queue pair
 * that the lease moved ahead, or destroy unadopted objects; without a shared state, the other
 * process would get a stale answer from the lease.
 */
#pragma once

#include "preload/core/context.h"

/*
 * Before fork(): moves what is left of each lease to shared memory. A lease for which there is no
 * memory ends. Call with the lock held.
 */
void wv_inherit_leases(void);

/* The lease has ended in this process: unmaps the shared memory. Call with the lock held. */
void wv_inherit_end(struct wv_context *c);
