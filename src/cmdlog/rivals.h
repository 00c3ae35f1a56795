/*
 * Unadopted objects whose queues lie in memory that a command names.
 */
#pragma once

#include "cmdlog/adopt.h"

/*
 * The last unadopted object whose queue or doorbell record is memory that @cmd, which the kernel is
 * about to see, names too; NULL if there is none. The caller destroys it: two objects of the device
 * must never share a queue.
 */
struct wv_step *wv_lease_rival(struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			       const struct wv_command_row *row);
