/* SPDX-License-Identifier: BSD-2-Clause */
/* The control path: adopts or records each ioctl on a ufile, or passes it to the kernel. */
#pragma once

#include "abi/abi.h"
#include "preload/core/context.h"

/*
 * Returns what ioctl(@fd, RDMA_VERBS_IOCTL, @cmd) should return. @fd is a command descriptor of
 * @context.
 */
int wv_control_path(struct wv_context *context, int fd, struct ib_uverbs_ioctl_hdr *cmd);
