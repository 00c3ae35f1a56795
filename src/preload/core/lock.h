/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lock of the control path: guards every context and the messages to the daemon. The data path
 * never takes it. A thread that holds it is guarded (core/guard.h), as one with another of our
 * locks.
 *
 * Locks are taken in this order: prefork/child.c, prefork/zygote.c, this one (see
 * interpose/fork_handlers.c).
 */
#pragma once

void wv_lock(void);
void wv_unlock(void);

/* Takes the lock if it is free. Returns 0, or an errno value. */
int wv_try_lock(void);
