/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker that makes spares, by the genuine verbs of libibverbs, and destroys those that are not
 * wanted any more.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Has the maker look what is to be done. Call with no lock held. */
void wv_maker_wake(void);

/*
 * The same once the program has connected the queue pair that it is creating, so that the maker
 * does not share a processor with it meanwhile; or at once, if it creates a further one first.
 */
void wv_maker_wake_later(void);

/* Whether that is still to be done: the program has connected a queue pair. */
bool wv_maker_is_due(void);

/*
 * Destroys all spares that use @object of @context, a parent's, too, and forgets their shapes; if
 * @object is NULL, all of this process, and the parent's in @context (may be NULL). Returns whether
 * there were any. Call with no lock held.
 */
bool wv_maker_withdraw(const struct ibv_context *context, const void *object);

/*
 * The same in a child that has not taken the library's state over (core/process.h): it has spares
 * of its parent only. Takes no lock, since a thread that the child does not have may hold it.
 */
bool wv_maker_withdraw_unseen(const struct ibv_context *context, const void *object);

/* Around fork(2). */
bool wv_maker_before_fork(void);
void wv_maker_after_fork(void);
void wv_maker_in_child(void);
