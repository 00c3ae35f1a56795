/* SPDX-License-Identifier: BSD-2-Clause */
/* What a supervisor is as a process: nothing of it is to reach its starts, nor of them it. */
#pragma once

#include <sys/resource.h>

/*
 * Makes this process the parent of orphans, blocks its signals, raises its limit of descriptors,
 * which was @files before, and gives up its terminal. Returns 0 or -errno.
 */
int wv_own_process_prepare(struct rlimit *files);
