/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three locks, taken in this order, and before that of the control path. A fork takes all.
 *
 * The lock of the pairs is held while a verb of the program is carried out on an end of a pair. The
 * maker's lock is held for one spare at a time, while verbs are called for it, and by whoever
 * destroys what spares use: then no spare is half made. The lock of the stock is held for moments
 * only; it guards the stock, the young queue pairs and the ends of pairs.
 */
#pragma once

void wv_pair_lock(void);
void wv_pair_unlock(void);

void wv_making_lock(void);
void wv_making_unlock(void);

/*
 * For a thread of this library: lets the program's threads go first. A mutex is not fair, and the
 * program must wait for one spare at most.
 */
void wv_making_lock_last(void);

void wv_stock_lock(void);
void wv_stock_unlock(void);

/* In a forked child, whose parent held them: no thread waits. */
void wv_spare_locks_forked(void);
