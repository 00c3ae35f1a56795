/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that makes spares, by the genuine verbs of libibverbs, and destroys those that are not
 * wanted any more.
 *
 * Two locks. The lock of the stock is held for moments only. The maker's lock is held for one verb
 * at a time; a fork takes it, and whoever destroys what spares use: then no spare is half made. It
 * is taken first.
 */
#pragma once

#include <stdbool.h>

/* Starts the thread if it does not run, or wakes it. Call with no lock held. */
void wv_maker_wake(void);

/*
 * Destroys all spares that use @object (NULL: all spares), and forgets their shapes. Returns
 * whether there were any. Call with no lock held.
 */
bool wv_maker_withdraw(const void *object);

/*
 * From now on no spare is made, and no thread is started: the process ends, or enters a sandbox.
 */
void wv_maker_stop(void);

/* Around fork(2). */
void wv_maker_before_fork(void);
void wv_maker_after_fork(void);
void wv_maker_in_child(void);

void wv_stock_lock(void);
void wv_stock_unlock(void);
