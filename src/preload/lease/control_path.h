/* The control path: each ioctl on a ufile is adopted, recorded or simply the kernel's. */
#pragma once

#include "abi/abi.h"

/* What ioctl(@fd, RDMA_VERBS_IOCTL, @cmd) is to return; @fd is a tracked WV_FD_COMMAND. */
int wv_control_path(int fd, struct ib_uverbs_ioctl_hdr *cmd);
