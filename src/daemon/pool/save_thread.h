/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The save thread writes recipes to disk and removes their files, in the order in which it is told
 * to: the loop must not wait for a disk that is slow or hangs.
 */
#pragma once

#include "store/store.h"

/* So many orders may wait before no further recipe is taken. Each holds a copy of its recipe. */
#define WV_MAX_SAVES 16

/* An order, and what came of it. */
struct wv_save_order {
	STAILQ_ENTRY(wv_save_order) link;
	struct wv_recipe *copy; /* to be written, owned; NULL: the file is to be removed */
	uid_t uid;
	uint64_t id;
	int err; /* as of wv_store_save() or wv_store_remove() */
};

struct wv_save_thread;

/*
 * Starts a thread that writes to @store, which may be closed meanwhile. 0 and *@thread, which the
 * caller stops; or -errno.
 */
int wv_save_thread_start(struct wv_save_thread **thread, const struct wv_store *store);

/*
 * Lets the thread carry out its orders, for at most @timeout_us, and ends it. A thread that hangs
 * in the disk is left behind and ends by itself.
 */
void wv_save_thread_stop(struct wv_save_thread *t, int64_t timeout_us);

/* Has a copy of @recipe written. 0; -EAGAIN if too many orders wait; or -ENOMEM. */
int wv_save_thread_save(struct wv_save_thread *t, const struct wv_recipe *recipe);

/*
 * Has the file of recipe @id of @uid removed, whatever the number of orders. The caller orders it
 * only for recipes that it has had saved, so orders are no more than files. 0 or -ENOMEM.
 */
int wv_save_thread_remove(struct wv_save_thread *t, uid_t uid, uint64_t id);

/* Readable when an order is done; the thread's. */
int wv_save_thread_fd(const struct wv_save_thread *t);

/* An order that is done, for wv_save_order_free(); NULL if there is none. */
struct wv_save_order *wv_save_thread_done(struct wv_save_thread *t);

void wv_save_order_free(struct wv_save_order *order);

/* How many orders were given and not yet returned as done. */
unsigned int wv_save_thread_busy(struct wv_save_thread *t);
