/*
 * Doorbell records in a forked child. libmlx5 keeps many to a page, and each process has its own
 * list of which are free. The pages are shared, so a queue made in the child and one made in the
 * parent would get the same record. The child therefore takes all that were free at the fork, for
 * good: spare completion queues get them, of which the kernel never hears. Its own are in pages of
 * its own then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct wv_context;

/* The context has just been opened by this process: there is nobody to be parted from. */
void wv_dbrec_begin(const struct wv_context *c);

/*
 * Before the memory of a queue is given to the provider. 0, or -errno if the child could not be
 * parted from its parent. Call with no lock held.
 */
int wv_dbrec_part(struct wv_context *c);

/* Whether this thread is doing that: what the provider asks for is for a spare. */
bool wv_dbrec_is_parting(void);

/* The memory that the provider asks for meanwhile. */
void *wv_dbrec_memory(size_t bytes);

/* In a forked child, which is as yet parted from nobody. */
void wv_dbrec_forked(void);
