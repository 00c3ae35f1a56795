/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of the data path, for providers that ring doorbells or arm CQs by a command. Every
 * post of such a provider passes here, so all of it is inline, without a search in the table.
 */
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Command, the object that it is about, name, and whether its write() can become an ioctl: only if
 * the request has no private part, so that CORE_IN can be all of it. core_rows.h makes the rows
 * from this list.
 */
#define WV_DATA_PATH(row)                                                                          \
	row(POLL_CQ, CQ, "poll_cq", 0) row(REQ_NOTIFY_CQ, CQ, "req_notify_cq", 1)                  \
	    row(POST_SEND, QP, "post_send", 1) row(POST_RECV, QP, "post_recv", 1)                  \
		row(POST_SRQ_RECV, SRQ, "post_srq_recv", 1)

#define WV_DATA_BIT(cmd, about, name, as_ioctl)	 | 1ull << IB_USER_VERBS_CMD_##cmd
#define WV_IOCTL_BIT(cmd, about, name, as_ioctl) | (uint64_t)(as_ioctl) << IB_USER_VERBS_CMD_##cmd

/* Whether wv_abi_write_cmd() says that a command is of class WV_DATA. */
static inline bool wv_is_data_path(uint32_t write_cmd)
{
	return write_cmd < 64 && (0 WV_DATA_PATH(WV_DATA_BIT)) >> write_cmd & 1;
}

/*
 * Whether wv_posted_fill() can turn the write() of the @bytes at @hdr into an ioctl: the command
 * allows it, and an attribute has room for the request and for the answer.
 */
static inline bool wv_can_be_ioctl(const struct ib_uverbs_cmd_hdr *hdr, size_t bytes)
{
	return bytes >= sizeof(*hdr) + sizeof(uint64_t) && bytes - sizeof(*hdr) <= UINT16_MAX &&
	       hdr->command < 64 && (0 WV_DATA_PATH(WV_IOCTL_BIT)) >> hdr->command & 1 &&
	       hdr->out_words <= UINT16_MAX / 4;
}

struct wv_posted {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[3];
};

/*
 * The ioctl that does what write() of the @bytes at @hdr would, if wv_can_be_ioctl(). Points into
 * them.
 */
static inline void wv_posted_fill(struct wv_posted *cmd, uint32_t driver_id,
				  const struct ib_uverbs_cmd_hdr *hdr, size_t bytes)
{
	uint16_t in = (uint16_t)(bytes - sizeof(*hdr)), out = (uint16_t)(hdr->out_words * 4);
	unsigned int n_attrs = out ? 3 : 2;
	uint64_t first;

	memcpy(&first, hdr + 1, sizeof(first));
	*cmd = (struct wv_posted){
	    .hdr = {.length = (uint16_t)(sizeof(cmd->hdr) + n_attrs * sizeof(cmd->attrs[0])),
		    .object_id = UVERBS_OBJECT_DEVICE,
		    .method_id = UVERBS_METHOD_INVOKE_WRITE,
		    .num_attrs = (uint16_t)n_attrs,
		    .driver_id = driver_id},
	    .attrs = {{.attr_id = UVERBS_ATTR_WRITE_CMD,
		       .len = sizeof(uint64_t),
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = hdr->command},
		      {.attr_id = UVERBS_ATTR_CORE_IN,
		       .len = in,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = in <= sizeof(first) ? first : (uintptr_t)(hdr + 1)},
		      /* Every legacy request that has an answer begins with its address. */
		      {.attr_id = UVERBS_ATTR_CORE_OUT,
		       .len = out,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = first}},
	};
}
