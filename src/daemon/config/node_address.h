/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the configuration names other nodes. Pure functions: nothing is resolved.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WV_NODE_NAME 254 /* of a name in the DNS, with its end mark */
/* Of a table of GIDs: "GID/BITS=NODE". */
#define WV_LIST_ITEM (WV_NODE_NAME + INET6_ADDRSTRLEN + 16)

/*
 * The port of daemons. 4805 to 4826 are unassigned, both of TCP and of UDP, in IANA's list (October
 * 2025); those from 4791 on become ports of RDMA transports (RoCEv2, Unified Bus, Ultra Ethernet).
 */
#define WV_PEER_PORT 4818

/* A node: "NAME", "NAME:PORT", "ADDRESS", "ADDRESS:PORT" or "[IPV6]:PORT". */
struct wv_node_address {
	char name[WV_NODE_NAME]; /* without the port; of an address its usual form */
	uint16_t port;		 /* 0: as this node's */
	bool numeric;		 /* @name is an address, and @ip has it */
	struct in6_addr ip;	 /* an IPv4 address is mapped into IPv6, as in a RoCE GID */
};

/* A row of the table of GIDs: "GID=NODE", or "GID/BITS=NODE" for all that begin alike. */
struct wv_gid_row {
	uint8_t gid[16];
	unsigned int bits;
	struct wv_node_address node;
};

/* Reads an IPv4 or IPv6 address. 0 or -EINVAL. */
int wv_ip_parse(const char *text, struct in6_addr *ip);

/* Writes the usual form of @ip. Returns @text. */
const char *wv_ip_format(const struct in6_addr *ip, char text[static INET6_ADDRSTRLEN]);

/*
 * Writes the socket's form of @ip and @port: of IPv4, if that is what it is. How many bytes it has.
 */
socklen_t wv_ip_socket(struct sockaddr_storage *to, const struct in6_addr *ip, uint16_t port);

/* The address @v4 of IPv4, mapped into IPv6. */
static inline struct in6_addr wv_ip_of_v4(struct in_addr v4)
{
	struct in6_addr ip = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	memcpy(&ip.s6_addr[12], &v4, sizeof(v4));
	return ip;
}

/* Reads a node; if it has no port, that is @port. 0 or -EINVAL. */
int wv_node_address_parse(const char *text, uint16_t port, struct wv_node_address *node);

/* Reads a row of the table of GIDs. 0 or -EINVAL. */
int wv_gid_row_parse(const char *text, struct wv_gid_row *row);

/* Whether @row is about @gid. */
bool wv_gid_row_covers(const struct wv_gid_row *row, const uint8_t gid[static 16]);

/*
 * Copies the next item of @list, whose items are separated by commas and blanks, and returns what
 * follows it. NULL: there is none. An item that does not fit is cut off, and then not valid.
 */
const char *wv_list_next(const char *list, char item[static WV_LIST_ITEM]);
