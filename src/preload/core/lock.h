/*
 * The lock of the control path: guards every context and what this process says to the daemon. The
 * data path never takes it.
 *
 * Locks are taken in the order: prefork/child.c, prefork/zygote.c, this one (interpose/fork.c).
 */
#pragma once

void wv_lock(void);
void wv_unlock(void);

/* Takes the lock if nobody has it; 0, or an errno value. */
int wv_try_lock(void);
