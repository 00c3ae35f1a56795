/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/addresses.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>

static const unsigned int groups[] = {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_NEIGH};

/* An IPv4 address in a GID is mapped into IPv6 (RFC 4291, 2.5.5.2). */
static bool read_gid(const struct nlattr *attr, uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	size_t bytes = attr ? mnl_attr_get_payload_len(attr) : 0;

	if (bytes != 4 && bytes != 16)
		return false;
	memcpy(gid, mapped, sizeof(mapped));
	memcpy(gid + 16 - bytes, mnl_attr_get_payload(attr), bytes);
	return true;
}

/*
 * Whether an address, which is there, was there before: what is new of it is its lifetime or a
 * flag.
 */
static bool is_renewed(const struct nlattr *attr)
{
	const struct ifa_cacheinfo *times = mnl_attr_get_payload(attr);

	return mnl_attr_get_payload_len(attr) >= sizeof(*times) && times->tstamp != times->cstamp;
}

static void take_address(struct wv_addresses *a, const struct nlmsghdr *head)
{
	const struct nlattr *attr, *address = NULL;
	bool renewed = false;
	uint8_t gid[16];

	/* IFA_LOCAL is this node's end of a point-to-point link. */
	mnl_attr_for_each(attr, head, sizeof(struct ifaddrmsg))
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == IFA_LOCAL || (type == IFA_ADDRESS && !address))
			address = attr;
		else if (type == IFA_CACHEINFO && head->nlmsg_type == RTM_NEWADDR)
			renewed = is_renewed(attr);
	}
	if (!renewed && read_gid(address, gid))
		a->own(a->arg, gid);
}

static void take_neighbour(struct wv_addresses *a, const struct nlmsghdr *head)
{
	const struct nlattr *attr, *address = NULL, *link_address = NULL;
	uint8_t gid[16], at[WV_LINK_ADDRESS] = {0};
	size_t bytes;

	mnl_attr_for_each(attr, head, sizeof(struct ndmsg))
	{
		if (mnl_attr_get_type(attr) == NDA_DST)
			address = attr;
		else if (mnl_attr_get_type(attr) == NDA_LLADDR)
			link_address = attr;
	}
	if (!link_address || !read_gid(address, gid))
		return;
	bytes = mnl_attr_get_payload_len(link_address);
	memcpy(at, mnl_attr_get_payload(link_address), bytes < sizeof(at) ? bytes : sizeof(at));
	a->neighbour(a->arg, gid, at);
}

static void take(struct wv_addresses *a, const struct nlmsghdr *head)
{
	switch (head->nlmsg_type) {
	case RTM_NEWADDR:
	case RTM_DELADDR:
		if (mnl_nlmsg_get_payload_len(head) >= sizeof(struct ifaddrmsg))
			take_address(a, head);
		break;
	case RTM_NEWNEIGH:
		if (mnl_nlmsg_get_payload_len(head) >= sizeof(struct ndmsg))
			take_neighbour(a, head);
		break;
	default:
		break;
	}
}

void wv_addresses_hear(struct wv_addresses *a, const void *messages, size_t bytes)
{
	const char *at = messages;

	/*
	 * Not by libmnl, for which a length of 2^31 and more is a small one, and attributes end
	 * where the next message would begin.
	 */
	for (size_t step; bytes >= sizeof(struct nlmsghdr); at += step, bytes -= step) {
		const struct nlmsghdr *head = (const void *)at;

		if (head->nlmsg_len < sizeof(*head) || head->nlmsg_len > bytes)
			return;
		step = NLMSG_ALIGN(head->nlmsg_len);
		if (step > bytes)
			return;
		take(a, head);
	}
}

/* One message for each call, so that clients have their turn. */
static int on_message(sd_event_source *source, int fd, uint32_t revents, void *data)
{
	struct wv_addresses *a = data;
	_Alignas(struct nlmsghdr) char message[8192];
	ssize_t got = mnl_socket_recvfrom(a->nl, message, sizeof(message));

	(void)source;
	(void)fd;
	(void)revents;
	if (got > 0)
		wv_addresses_hear(a, message, (size_t)got);
	else if (errno == ENOBUFS || errno == ENOSPC)
		a->own(a->arg, NULL);
	return 0;
}

static int join(struct mnl_socket *nl)
{
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(groups); i++) {
		int group = (int)groups[i];

		if (mnl_socket_setsockopt(nl, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
			return -errno;
	}
	return 0;
}

int wv_addresses_start(struct wv_addresses *a)
{
	int err;

	a->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!a->nl)
		return -errno;
	err = join(a->nl);
	if (err)
		return err;
	err =
	    sd_event_add_io(a->event, &a->source, mnl_socket_get_fd(a->nl), EPOLLIN, on_message, a);
	return err < 0 ? err : sd_event_source_set_priority(a->source, WV_PRIORITY_PEERS);
}

void wv_addresses_stop(struct wv_addresses *a)
{
	a->source = sd_event_source_disable_unref(a->source);
	if (a->nl)
		mnl_socket_close(a->nl);
	a->nl = NULL;
}
