/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sets that this process was offered by its parent, and the scripts that it teaches. These
 * functions list, open and close devices while wv_child_is_tracking() is true.
 */
#pragma once

#include "preload/prefork/tracked_context.h"

struct wv_offer {
	struct wv_set *set;
	struct wv_claim_slot *claim_slot;
	uint64_t state; /* of the claim slot */
};

/*
 * In a child, before anything else runs in it: the child may use the sets in @offers, and it
 * teaches scripts that are not in @scripts yet (NULL: it teaches none). Forgets the offers and
 * scripts that the parent itself had. Call with the lock of tracked_context.h held.
 */
void wv_child_begin(const struct wv_offer *offers, unsigned int n,
		    struct wv_published_scripts *scripts);

/*
 * Until wv_child_end_rehearsal(), what this thread does with devices is taught to @scripts, as if
 * the thread were a child of this process.
 */
void wv_child_rehearse(struct wv_published_scripts *scripts);
void wv_child_end_rehearsal(void);

/*
 * A copy of the parent's device list, if an offered set is unused. NULL: the caller must list the
 * devices.
 */
struct ibv_device **wv_child_list(int *n);
/* Frees such a copy. False: @list is from libibverbs. */
bool wv_child_end_list(struct ibv_device **list);

/* ibv_open_device(): a context from an offered set, or else a new one. */
struct ibv_context *wv_child_open(struct ibv_device *device);

/* ibv_close_device(). */
int wv_child_close(struct ibv_context *context);

/*
 * The program asks @context for something that no set has, such as queues in memory of its own.
 * From now on it claims nothing from the set of @context.
 */
void wv_child_stop(struct ibv_context *context);

/* The program closed @fd, which may belong to an unused set: the set is given back. */
void wv_child_lose_fd(int fd);

/* The process ends: publishes the scripts that it is teaching. */
void wv_child_end(void);
