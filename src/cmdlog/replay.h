/*
 * Carrying a recipe out in a fresh ufile, which makes a lease.
 */
#pragma once

#include "cmdlog/cmdlog.h"

/*
 * Gives @cmd to the kernel: 0 or a positive errno value. An indirection so that tests need no
 * device; the daemon's is one ioctl.
 */
typedef int (*wv_issue_fn)(void *kernel, struct ib_uverbs_ioctl_hdr *cmd);

/* What is made on the way. Every descriptor in it is the caller's to close, on failure too. */
struct wv_replay {
	struct wv_cmdlog *lease; /* in the memory given */
	int fds[WV_CMDLOG_MAX_FDS];
	unsigned int n_fds;
	int memory;		  /* the queues' sealed memory, or -1: there is none */
	unsigned int failed_step; /* on failure */
	int failed_errno;	  /* what the kernel said there */
};

/*
 * Carries out @recipe, which passed wv_validate(), and writes the WV_LEASE command log into
 * @memory. Queues that lie in memory of a program are pinned by the kernel, so what they are made
 * in here stays theirs when this process has unmapped it. Returns 0; -EPROTO if the kernel answered
 * a step otherwise than when it was recorded; -ENOSPC if
 * @capacity is too small.
 */
int wv_replay(struct wv_cmdlog *recipe, wv_issue_fn issue, void *kernel, void *memory,
	      size_t capacity, struct wv_replay *out);
