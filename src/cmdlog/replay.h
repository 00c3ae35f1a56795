/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carrying out a recipe in a new ufile, which makes a lease.
 */
#pragma once

#include "abi/qp.h"
#include "cmdlog/cmdlog.h"

/*
 * Gives @cmd to the kernel; returns 0 or a positive errno value. The daemon's is one ioctl; tests
 * have one that needs no device.
 */
typedef int (*wv_issue_fn)(void *kernel, struct ib_uverbs_ioctl_hdr *cmd);

/* The results. The caller closes every descriptor in it, also on failure. */
struct wv_replay {
	struct wv_cmdlog *lease; /* in the memory given */
	int fds[WV_CMDLOG_MAX_FDS];
	unsigned int n_fds;
	int memory;		  /* descriptor of the queues' memory, or -1: none */
	unsigned int failed_step; /* on failure */
	int failed_errno;	  /* what the kernel said there */
};

/*
 * Carries out @recipe, which passed wv_validate(), and writes the WV_LEASE command log into
 * @memory. The kernel pins queues that are in user memory, so they keep it after this process has
 * unmapped it. Returns 0; -EPROTO if the kernel answered a step differently than when it was
 * recorded; -ENOSPC if @capacity is too small.
 */
int wv_replay(struct wv_cmdlog *recipe, wv_issue_fn issue, void *kernel, void *memory,
	      size_t capacity, struct wv_replay *out);

/*
 * Connects the RC queue pair that step number @create of @lease creates to @peer: repeats @moves,
 * which passed wv_validate_moves(), with the peer's name and the PSNs, and appends them to @lease,
 * which has room for @capacity bytes. Returns 0; -EINVAL if @lease has no such queue pair; -ENOSPC;
 * or the negative errno of the kernel. After an error @lease is as it was, but its queue pair may
 * be in RTR.
 */
int wv_replay_moves(struct wv_cmdlog *lease, size_t capacity, uint32_t create,
		    struct wv_cmdlog *moves, const struct wv_qp_peer *peer, wv_issue_fn issue,
		    void *kernel);
