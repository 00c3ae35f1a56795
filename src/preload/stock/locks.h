/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two locks, taken in this order, and before that of the control path. A fork takes all.
 *
 * The maker's lock is held for one spare at a time, while verbs are called for it, and by whoever
 * destroys what spares use: then no spare is half made. The lock of the stock is held for moments
 * only; it guards the stock and the young queue pairs.
 */
#pragma once

#include <stdbool.h>

void wv_making_lock(void);
void wv_making_unlock(void);

/* For a fork: false if it cannot be had in time (core/worker_lock.h). */
bool wv_making_lock_in_time(void);

/* For a worker: lets the program's threads go first (core/worker_lock.h). */
void wv_making_lock_last(void);

void wv_stock_lock(void);
void wv_stock_unlock(void);

/* In a forked child, whose parent held them: no thread waits. */
void wv_spare_locks_forked(void);
