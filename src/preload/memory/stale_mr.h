/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For a trace: finds posts by a forked child that use memory which was registered before the fork
 * and of which the child has a copy. The adapter reads and writes the parent's pages, which is
 * rarely intended.
 */
#pragma once

#include <infiniband/verbs.h>

/*
 * Notes a registration, or forgets it. Does nothing if there is no trace. Call with no lock held.
 */
void wv_stale_mr_note(const struct ibv_mr *mr);
void wv_stale_mr_forget(const struct ibv_mr *mr);

/*
 * In a forked child: marks all registrations as inherited, and watches posts to inherited contexts.
 * Call with the lock held.
 */
void wv_stale_mr_forked(void);
