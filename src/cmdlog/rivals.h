/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unadopted objects whose queues lie in memory that a command names.
 */
#pragma once

#include "cmdlog/adopt.h"

/*
 * The kernel is about to see @cmd. Returns the last unadopted object whose queue or doorbell record
 * is in memory that @cmd names too, or NULL. The caller destroys that object, because two objects
 * of a device must never share a queue.
 */
struct wv_step *wv_lease_rival(struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			       const struct wv_command_row *row);
