/*
 * A step as the kernel is to see it.
 */
#pragma once

#include "cmdlog/cmdlog.h"

struct wv_command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[WV_CMDLOG_MAX_ATTRS];
};

/*
 * Fills in @cmd from a step of a lease, into whose payloads it points: answers are written there.
 * @fds: the descriptors of the slots; @token: the user handle to give.
 */
void wv_command_fill(struct wv_command *cmd, struct wv_step *step, uint32_t driver_id,
		     const int *fds, uint64_t token);
