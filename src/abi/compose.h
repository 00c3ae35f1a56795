/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that warmverbs itself gives to the kernel, and answers that it gives in the kernel's
 * stead.
 */
#pragma once

#include "abi/abi.h"

/* Points into itself: not to be copied. */
struct wv_small_command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[3];
	union {
		struct ib_uverbs_modify_qp modify;
		struct {
			struct ib_uverbs_query_qp query;
			struct ib_uverbs_query_qp_resp queried;
		};
		uint64_t answer[2];
	};
};

/*
 * Destroys the object @handle that the command @create created. Returns -EOPNOTSUPP if no ioctl
 * does that (see wv_abi_destroyer()).
 */
int wv_compose_destroy(struct wv_small_command *cmd, uint32_t driver_id,
		       const struct wv_command_row *create, uint32_t handle);

/* Moves a queue pair to RESET. */
void wv_compose_reset(struct wv_small_command *cmd, uint32_t driver_id, uint32_t qp_handle);

/* Reads a queue pair; the answer will be in @cmd->queried. */
void wv_compose_query(struct wv_small_command *cmd, uint32_t driver_id, uint32_t qp_handle);

/*
 * Answers @cmd, of row @row, as if it succeeded with nothing to report: zeros, and handles and
 * descriptors that do not exist.
 */
void wv_answer_empty(struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row);
