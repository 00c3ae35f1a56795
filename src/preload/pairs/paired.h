/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair of a lease that the daemon has connected to a peer before the program asks
 * (wire/pair.h). If the program connects it to the same peer (wv_pair_decide()), it is moved once
 * more only if it is to have other attributes. If not, it is put back, and connected as asked.
 *
 * Call all functions with the lock of the control path held.
 */
#pragma once

#include "preload/core/passage.h"

/* Whether the steps of a lease are what @pair, which came with it, says. */
bool wv_paired_fits(struct wv_cmdlog *lease, const struct wv_lease_pair *pair);

/* The context has received its lease with @pair, of which pair.pair is not 0, by @sock. */
void wv_paired_begin(struct wv_context *c, const struct wv_lease_pair *pair, int sock);

/* A connection to the daemon of which nothing is told any more but what came of the pair; or -1. */
int wv_paired_sock(const struct wv_context *c);

/*
 * Takes the place of wv_lease_claim() while the context has a pair. Notes in @p, whose row and
 * target it looks up, how the kernel is to execute the command if there is no step. Keeps errno.
 */
struct wv_step *wv_paired_claim(struct wv_passage *p);

/*
 * Has the kernel execute the command with the packet sequence numbers of the pair. The program's
 * memory stays as it is. Returns what ioctl() returns. Needs no lock.
 */
int wv_paired_issue(const struct wv_passage *p);

/* The kernel has executed a command about the pair's queue pair. */
void wv_paired_after_kernel(const struct wv_passage *p, bool failed);
