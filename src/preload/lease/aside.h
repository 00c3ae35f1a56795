/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of a thread of this library that makes objects for the program ahead (core/scope.h): the
 * program has not asked for them, so they are neither recorded nor adopted, nor do they diverge.
 */
#pragma once

#include <rdma/rdma_user_ioctl.h>

/* Returns what ioctl() returns. @fd is a tracked command descriptor. */
int wv_aside_command(int fd, struct ib_uverbs_ioctl_hdr *cmd);
