/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of a thread of this library that makes objects for the program ahead (core/scope.h): the
 * program has not asked for them, so they are neither recorded nor adopted, nor do they diverge.
 */
#pragma once

#include "preload/core/context.h"

#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>

/*
 * Whether the context of @fd should have more queue pairs than the program has asked for: not while
 * its commands are recorded, and not before the program has used all queue pairs of the lease.
 * Takes the lock.
 */
bool wv_aside_may_add_qps(int fd);

/* Returns what ioctl() returns. @fd is a command descriptor of @context. */
int wv_aside_command(struct wv_context *context, int fd, struct ib_uverbs_ioctl_hdr *cmd);

/* A queue pair of the context of @fd, which is its command descriptor, came from a spare. */
void wv_aside_count_spare(int fd);

/*
 * Reports to the daemon what was counted since the last report, of contexts that have a lease.
 * Takes the lock. Makes no other system call than write().
 */
void wv_aside_report_spares(void);
