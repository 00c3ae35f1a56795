/* SPDX-License-Identifier: BSD-2-Clause */
/* The control path: adopts or records each ioctl on a ufile, or passes it to the kernel. */
#pragma once

#include "abi/abi.h"

/* Returns what ioctl(@fd, RDMA_VERBS_IOCTL, @cmd) should return. @fd is a tracked WV_FD_COMMAND. */
int wv_control_path(int fd, struct ib_uverbs_ioctl_hdr *cmd);
