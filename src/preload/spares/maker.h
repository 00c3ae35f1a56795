/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that makes spares, by the genuine verbs of libibverbs, and destroys those that are not
 * wanted any more.
 */
#pragma once

#include <stdbool.h>

/* Starts the thread if it does not run, or wakes it. Call with no lock held. */
void wv_maker_wake(void);

/*
 * The same once the program has connected the queue pair that it is creating, so that the thread
 * does not share a processor with it meanwhile; or at once, if it creates a further one first.
 */
void wv_maker_wake_later(void);

/* Whether that is still to be done: the program has connected a queue pair. */
bool wv_maker_is_due(void);

/*
 * Destroys all spares that use @object (NULL: all spares), and forgets their shapes. Returns
 * whether there were any. Call with no lock held.
 */
bool wv_maker_withdraw(const void *object);

/* From now on no spare is made, and no thread is started: the process ends. Takes no lock. */
void wv_maker_stop(void);

/* The same for a process that enters a sandbox: nor are there pairs. */
void wv_maker_rest(void);

/* Around fork(2). */
void wv_maker_before_fork(void);
void wv_maker_after_fork(void);
void wv_maker_in_child(void);
