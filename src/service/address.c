/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/address.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

static const union ibv_gid nowhere;

static bool is_nowhere(const union ibv_gid *gid)
{
	return !memcmp(gid, &nowhere, sizeof(nowhere));
}

static bool is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw);
}

static void from_ipv4(union ibv_gid *gid, const void *address)
{
	*gid = nowhere;
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, address, sizeof(struct in_addr));
}

static void hide_loopback(union ibv_gid *gid)
{
	if (IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)gid->raw) ||
	    (is_ipv4(gid) && gid->raw[12] == IN_LOOPBACKNET))
		*gid = nowhere;
}

static int look_up(const char *name, union ibv_gid *gid)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found;

	if (getaddrinfo(name, NULL, &hints, &found))
		return -EINVAL;
	if (found->ai_family == AF_INET)
		from_ipv4(gid, &((const struct sockaddr_in *)(void *)found->ai_addr)->sin_addr);
	else
		memcpy(gid, &((const struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr,
		       sizeof(*gid));
	freeaddrinfo(found);
	return 0;
}

int wv_service_node(const char *node, union ibv_gid *gid)
{
	struct in_addr ipv4;
	int err = 0;

	*gid = nowhere;
	if (!node || !*node)
		return 0;
	if (inet_pton(AF_INET, node, &ipv4) == 1)
		from_ipv4(gid, &ipv4);
	else if (inet_pton(AF_INET6, node, gid->raw) != 1)
		err = look_up(node, gid);
	if (!err)
		hide_loopback(gid);
	return err;
}

/* How well the entry @own suits a peer; 0: not at all. */
static unsigned int suits(const struct ibv_gid_entry *own, const union ibv_gid *peer)
{
	bool any = is_nowhere(peer);

	if (own->gid_type == IBV_GID_TYPE_IB)
		return 1;
	if (!any && is_ipv4(&own->gid) != is_ipv4(peer))
		return 0;
	if (own->gid_type == IBV_GID_TYPE_ROCE_V1)
		return 1;
	return any && is_ipv4(&own->gid) ? 3 : 2;
}

/* Of the device's GIDs; an adapter's ports have up to 256 each. */
#define MOST_GIDS 512

static int choose_gid(struct wv_service_port *port, const struct ibv_gid_entry *all, ssize_t n,
		      const union ibv_gid *peer)
{
	unsigned int best = 0;

	for (ssize_t i = 0; i < n; i++) {
		unsigned int rank = all[i].port_num == port->number ? suits(&all[i], peer) : 0;

		port->is_peer |= !memcmp(&all[i].gid, peer, sizeof(*peer));
		if (rank <= best)
			continue;
		best = rank;
		port->gid = all[i].gid;
		port->gid_index = (uint8_t)all[i].gid_index;
	}
	return best ? 0 : -EADDRNOTAVAIL;
}

int wv_service_port_find(struct ibv_context *context, uint8_t number, const union ibv_gid *peer,
			 struct wv_service_port *port)
{
	wv_auto_free struct ibv_gid_entry *all = calloc(MOST_GIDS, sizeof(*all));
	struct ibv_port_attr attr;
	ssize_t n;
	int err;

	if (!all)
		return -ENOMEM;
	err = ibv_query_port(context, number, &attr);
	if (err)
		return -err;
	n = ibv_query_gid_table(context, all, MOST_GIDS, 0);
	if (n < 0)
		return (int)n;
	*port = (struct wv_service_port){
	    .number = number,
	    .is_ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET,
	    .is_peer = is_nowhere(peer),
	    .mtu = (uint8_t)attr.active_mtu,
	    .lid = attr.lid,
	};
	return choose_gid(port, all, n, peer);
}
