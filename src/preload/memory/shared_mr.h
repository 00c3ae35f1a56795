/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registered memory that children of fork() share (WARMVERBS_SHARE_MR). The adapter reads and
 * writes the pages that were registered, but a child gets a copy of them, unless they are shared
 * when it is forked. So the whole pages of private anonymous memory in a registered range are
 * replaced, in place, by shared pages with the same content, until the last registration of them
 * ends.
 */
#pragma once

#include <stddef.h>

struct ibv_mr;
struct wv_shared_mr;

/*
 * Shares the range for a registration to come. NULL: nothing in it can be shared. Data that another
 * thread writes to the range meanwhile may be lost. Call with no lock held.
 */
struct wv_shared_mr *wv_shared_mr_take(void *at, size_t bytes);

/*
 * The registration of @share is @mr; NULL: it failed, or has ended. Ignores a @share that is NULL.
 * Call with no lock held.
 */
void wv_shared_mr_keep(struct wv_shared_mr *share, struct ibv_mr *mr);

/* Removes and returns the share of @mr, which is about to end; or NULL. Call with no lock held. */
struct wv_shared_mr *wv_shared_mr_of(struct ibv_mr *mr);
