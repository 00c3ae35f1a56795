/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doorbell records in a forked child. libmlx5 keeps many of them in one page, and each process has
 * its own list of free ones. The pages are shared, so a queue created by the child and one created
 * by the parent would get the same record. Therefore the child allocates all records that were free
 * at the fork, for good: it gives them to spare CQs, of which the kernel never learns. Its later
 * records are then in pages of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct wv_context;

/* This process has just opened the context, so it shares no records. */
void wv_dbrec_begin(const struct wv_context *c);

/*
 * Separates a child's records from its parent's. Call it before the provider gets memory for a
 * queue, with no lock held. Returns 0, or -errno if that failed.
 */
int wv_dbrec_part(struct wv_context *c);

/* Whether this thread is in wv_dbrec_part(), so that the provider asks for memory of a spare. */
bool wv_dbrec_is_parting(void);

/* The memory that the provider asks for in wv_dbrec_part(). */
void *wv_dbrec_memory(size_t bytes);

/* In a forked child, which has not separated any records yet. */
void wv_dbrec_forked(void);
