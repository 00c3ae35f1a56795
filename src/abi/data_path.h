/*
 * The commands of the data path, for providers that ring doorbells or arm CQs by a command. Every
 * post of such a provider passes here, so the tests are inline and need no search in the table.
 */
#pragma once

#include "abi/abi.h"

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

/* Whether wv_compose_posted() can turn the write() of command @write_cmd into an ioctl. */
static inline bool wv_can_be_ioctl(uint32_t write_cmd)
{
	return write_cmd < 64 && (0 WV_DATA_PATH(WV_IOCTL_BIT)) >> write_cmd & 1;
}
