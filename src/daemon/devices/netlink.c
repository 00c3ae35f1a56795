/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmnl builds and parses the messages. The first request lists the devices with their indices;
 * then one request for each index asks for the character device of type "uverbs".
 */
#include "daemon/devices/netlink.h"

#include "abi/drivers.h"
#include "base/base.h"
#include "wire/wire.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

struct indices {
	uint32_t all[WV_MAX_DEVICES];
	unsigned int n;
};

static void close_socket(struct mnl_socket **nl)
{
	if (*nl)
		mnl_socket_close(*nl);
}

/* Sends @request and gives each answer to @take. 0 or -errno. */
static int ask(struct mnl_socket *nl, struct nlmsghdr *request, mnl_cb_t take, void *data)
{
	_Alignas(struct nlmsghdr) char answer[16384];
	unsigned int port = mnl_socket_get_portid(nl);
	ssize_t got;
	int more;

	if (mnl_socket_sendto(nl, request, request->nlmsg_len) < 0)
		return -errno;
	do {
		got = mnl_socket_recvfrom(nl, answer, sizeof(answer));
		if (got < 0)
			return -errno;
		more = mnl_cb_run(answer, (size_t)got, request->nlmsg_seq, port, take, data);
	} while (more > MNL_CB_STOP);
	return more < MNL_CB_STOP ? -errno : 0;
}

static struct nlmsghdr *request(void *memory, uint16_t command, uint16_t flags, uint32_t sequence)
{
	struct nlmsghdr *head = mnl_nlmsg_put_header(memory);

	head->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	head->nlmsg_seq = sequence;
	return head;
}

static int take_index(const struct nlmsghdr *head, void *data)
{
	struct indices *indices = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, head, 0) if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_INDEX &&
					     !mnl_attr_validate(attr, MNL_TYPE_U32) &&
					     indices->n < WV_MAX_DEVICES)
	    indices->all[indices->n++] = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int take_chardev(const struct nlmsghdr *head, void *data)
{
	struct wv_chardev *device = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, head, 0) switch (mnl_attr_get_type(attr))
	{
	case RDMA_NLDEV_ATTR_CHARDEV_NAME:
		if (!mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			strncpy(device->name, mnl_attr_get_str(attr), sizeof(device->name) - 1);
		break;
	case RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID: /* 32 bits, whatever the header says */
		if (!mnl_attr_validate(attr, MNL_TYPE_U32))
			device->driver_id = mnl_attr_get_u32(attr);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static int list_indices(struct mnl_socket *nl, struct indices *indices)
{
	_Alignas(struct nlmsghdr) char memory[256];

	return ask(nl, request(memory, RDMA_NLDEV_CMD_GET, NLM_F_DUMP, 1), take_index, indices);
}

static int get_chardev(struct mnl_socket *nl, uint32_t index, struct wv_chardev *device)
{
	_Alignas(struct nlmsghdr) char memory[256];
	struct nlmsghdr *head = request(memory, RDMA_NLDEV_CMD_GET_CHARDEV, 0, index + 2);

	*device = (struct wv_chardev){.driver_id = WV_NO_DRIVER};
	mnl_attr_put_u32(head, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	mnl_attr_put_strz(head, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
	return ask(nl, head, take_chardev, device);
}

int wv_netlink_chardevs(struct wv_chardev *devices, unsigned int capacity)
{
	wv_cleanup(close_socket) struct mnl_socket *nl =
	    mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
	struct indices indices = {.n = 0};
	unsigned int n = 0;
	int err;

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	err = list_indices(nl, &indices);
	if (err)
		return err;
	for (unsigned int i = 0; i < indices.n && n < capacity; i++)
		if (!get_chardev(nl, indices.all[i], &devices[n]) && *devices[n].name)
			n++;
	return (int)n;
}
