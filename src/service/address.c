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

static bool is_loopback(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)gid->raw) ||
	       (is_ipv4(gid) && gid->raw[12] == IN_LOOPBACKNET);
}

/* Of several addresses an IPv4 one, which most RoCE networks use. */
static int look_up(const char *name, union ibv_gid *gid)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found, *best;
	int err = getaddrinfo(name, NULL, &hints, &found);

	if (err)
		return err == EAI_AGAIN ? -EAGAIN : -EINVAL;
	for (best = found; best->ai_next && best->ai_family != AF_INET;)
		best = best->ai_next;
	if (best->ai_family == AF_INET)
		from_ipv4(gid, &((const struct sockaddr_in *)(void *)best->ai_addr)->sin_addr);
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
	if (!err && is_loopback(gid))
		*gid = nowhere;
	return err;
}

static bool is_link_local(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)gid->raw);
}

/* How many bits two GIDs have in common at their start. */
static unsigned int common_bits(const union ibv_gid *a, const union ibv_gid *b)
{
	unsigned int i = 0;

	while (i < 8 * sizeof(*a) && !((a->raw[i / 8] ^ b->raw[i / 8]) & (0x80 >> i % 8)))
		i++;
	return i;
}

/* How well the entry @own suits a peer, or any; 0: not at all. */
static unsigned int suits(const struct ibv_gid_entry *own, const union ibv_gid *peer)
{
	unsigned int v2 = own->gid_type == IBV_GID_TYPE_ROCE_V2 ? 1000 : 0;

	if (own->gid_type == IBV_GID_TYPE_IB)
		return 1;
	if (is_nowhere(peer))
		return 1 + v2 + (is_ipv4(&own->gid) ? 500 : 0);
	if (is_ipv4(&own->gid) != is_ipv4(peer) || is_link_local(&own->gid) != is_link_local(peer))
		return 0;
	return 1 + v2 + common_bits(&own->gid, peer);
}

/* Of the device's GIDs; an adapter's ports have up to 256 each. */
#define MOST_GIDS 512

static int choose_gid(struct wv_service_port *port, const struct ibv_gid_entry *all, ssize_t n,
		      const union ibv_gid *peer)
{
	unsigned int best = 0;

	for (ssize_t i = 0; i < n; i++) {
		unsigned int rank = all[i].port_num == port->number ? suits(&all[i], peer) : 0;

		port->has_peer |= !memcmp(&all[i].gid, peer, sizeof(*peer));
		if (rank <= best)
			continue;
		best = rank;
		port->gid = all[i].gid;
		port->gid_index = (uint8_t)all[i].gid_index;
	}
	return best ? 0 : -EADDRNOTAVAIL;
}

int wv_service_port_init(struct ibv_context *context, uint8_t number, struct wv_service_port *port)
{
	struct ibv_port_attr attr;
	int err = ibv_query_port(context, number, &attr);

	if (err)
		return -err;
	*port = (struct wv_service_port){
	    .number = number,
	    .is_ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET,
	    .mtu = (uint8_t)attr.active_mtu,
	    .lid = attr.lid,
	};
	return 0;
}

int wv_service_port_aim(struct ibv_context *context, const union ibv_gid *peer,
			struct wv_service_port *port)
{
	wv_auto_free struct ibv_gid_entry *all = calloc(MOST_GIDS, sizeof(*all));
	ssize_t n;

	if (!all)
		return -ENOMEM;
	n = ibv_query_gid_table(context, all, MOST_GIDS, 0);
	if (n < 0)
		return (int)n;
	port->has_peer = is_nowhere(peer);
	return choose_gid(port, all, n, peer);
}
