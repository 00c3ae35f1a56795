/* The control path: each ioctl on a ufile is adopted, recorded, or just passed to the kernel. */
#pragma once

#include "abi/abi.h"

/* The result of ioctl(@fd, RDMA_VERBS_IOCTL, @cmd); @fd is a tracked WV_FD_COMMAND. */
int wv_control_path(int fd, struct ib_uverbs_ioctl_hdr *cmd);
