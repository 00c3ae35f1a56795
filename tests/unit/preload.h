/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The preload's own control path (src/preload/lease/control_path.c, repair.c) on a fake kernel:
 * what stands between a program and the kernel, without a device and without a preload.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "cmdlog/replay.h"
#include "fake_kernel.h"
#include "wire/wire.h"

#define PRELOAD_UFILE 250 /* a number that this process has not open */

struct preload {
	struct fake_kernel *kernel;
	struct wv_lease *lease;
	/* One letter a command: 'a' adopted, 'k' the kernel's. */
	char trail[1024];
	unsigned int n_trail;
	unsigned int rollbacks, purges;
	uint16_t why; /* enum wv_why: of the last command */
};

/*
 * A process whose ufile, in @kernel, is the lease's; plain if @lease is NULL. One at a time. The
 * descriptors of @replay become the lease's, and so the process's.
 */
void preload_begin(struct preload *p, struct fake_kernel *kernel, struct wv_cmdlog *lease,
		   const struct wv_replay *replay);

/*
 * The lease came with @pair and @flags (enum wv_answer_flag). Returns the daemon's end of the
 * connection, which is the caller's.
 */
int preload_pair(const struct wv_lease_pair *pair, uint32_t flags);

/* What is to be said to the daemon is said, and the connection is closed. */
void preload_settle(void);

/* A wv_issue_fn; its first argument is the struct preload. */
int preload_issue(void *preload, struct ib_uverbs_ioctl_hdr *cmd);
