/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/netns_mode.h"

#include "base/base.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

static void close_socket(struct mnl_socket **nl)
{
	if (*nl)
		mnl_socket_close(*nl);
}

/* The attribute is 1 where the devices are shared. */
static int take_mode(const struct nlmsghdr *head, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, head,
			  0) if (mnl_attr_get_type(attr) == RDMA_NLDEV_SYS_ATTR_NETNS_MODE &&
				 !mnl_attr_validate(attr, MNL_TYPE_U8)) *
	    (bool *)data = !mnl_attr_get_u8(attr);
	return MNL_CB_OK;
}

bool wv_netns_is_exclusive(void)
{
	wv_cleanup(close_socket) struct mnl_socket *nl =
	    mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
	const struct timeval limit = {.tv_sec = 1};
	_Alignas(struct nlmsghdr) char memory[4096];
	struct nlmsghdr *head = mnl_nlmsg_put_header(memory);
	bool exclusive = false;
	ssize_t got;

	head->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);
	head->nlmsg_flags = NLM_F_REQUEST;
	if (!nl ||
	    setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(nl, head, head->nlmsg_len) < 0)
		return false;
	got = mnl_socket_recvfrom(nl, memory, sizeof(memory));
	if (got > 0)
		mnl_cb_run(memory, (size_t)got, 0, mnl_socket_get_portid(nl), take_mode,
			   &exclusive);
	return exclusive;
}
