/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/node_address.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>

#define SEPARATORS ", \t"

int wv_ip_parse(const char *text, struct in6_addr *ip)
{
	struct in_addr v4;

	if (inet_pton(AF_INET6, text, ip) == 1)
		return 0;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return -EINVAL;
	*ip = wv_ip_of_v4(v4);
	return 0;
}

const char *wv_ip_format(const struct in6_addr *ip, char text[static INET6_ADDRSTRLEN])
{
	if (IN6_IS_ADDR_V4MAPPED(ip))
		inet_ntop(AF_INET, &ip->s6_addr[12], text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, ip, text, INET6_ADDRSTRLEN);
	return text;
}

socklen_t wv_ip_socket(struct sockaddr_storage *to, const struct in6_addr *ip, uint16_t port)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	if (IN6_IS_ADDR_V4MAPPED(ip)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		memcpy(&v4->sin_addr, &ip->s6_addr[12], sizeof(v4->sin_addr));
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	v6->sin6_addr = *ip;
	return sizeof(*v6);
}

/* A number from 1 to @most; 0: it is none. */
static unsigned int parse_number(const char *text, unsigned int most)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return 0;
	number = strtoul(text, &end, 10);
	return *end || number > most ? 0 : (unsigned int)number;
}

/* Letters, digits, hyphens, dots (RFC 1123), and underscores, which private zones have. */
static bool is_name(const char *name)
{
	if (!isalnum((unsigned char)*name))
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-._", *name))
			return false;
	return true;
}

/* Cuts @text in two. @port is what follows the colon before the port, or NULL. */
static int split(char *text, char **host, char **port)
{
	char *close = *text == '[' ? strchr(text, ']') : NULL;
	char *colon = strrchr(text, ':');

	*host = text;
	*port = NULL;
	if (*text == '[') {
		if (!close || (close[1] && close[1] != ':'))
			return -EINVAL;
		*host = text + 1;
		*port = close[1] ? close + 2 : NULL;
		*close = '\0';
	} else if (colon && strchr(text, ':') == colon) { /* else it is an IPv6 address */
		*colon = '\0';
		*port = colon + 1;
	}
	return 0;
}

int wv_node_address_parse(const char *text, uint16_t port, struct wv_node_address *node)
{
	char copy[WV_LIST_ITEM], *host, *own_port;

	*node = (struct wv_node_address){.port = port};
	if (!wv_copy_string(copy, sizeof(copy), text) || split(copy, &host, &own_port))
		return -EINVAL;
	if (own_port && !(node->port = (uint16_t)parse_number(own_port, UINT16_MAX)))
		return -EINVAL;
	node->numeric = !wv_ip_parse(host, &node->ip);
	if (node->numeric) {
		wv_ip_format(&node->ip, node->name);
		return 0;
	}
	/* An address that was mistyped is no name: no domain is a number. */
	if (*text == '[' || !is_name(host) ||
	    !strpbrk(host, "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		return -EINVAL;
	return wv_copy_string(node->name, sizeof(node->name), host) ? 0 : -EINVAL;
}

int wv_gid_row_parse(const char *text, struct wv_gid_row *row)
{
	char copy[WV_LIST_ITEM], *node, *slash;

	if (!wv_copy_string(copy, sizeof(copy), text) || !(node = strchr(copy, '=')))
		return -EINVAL;
	*node++ = '\0';
	slash = strchr(copy, '/');
	row->bits = slash ? parse_number(slash + 1, 128) : 128;
	if (!row->bits)
		return -EINVAL;
	if (slash)
		*slash = '\0';
	if (inet_pton(AF_INET6, copy, row->gid) != 1)
		return -EINVAL;
	return wv_node_address_parse(node, 0, &row->node);
}

bool wv_gid_row_covers(const struct wv_gid_row *row, const uint8_t gid[static 16])
{
	unsigned int whole = row->bits / 8, rest = row->bits % 8;

	if (memcmp(row->gid, gid, whole))
		return false;
	return !rest || (row->gid[whole] ^ gid[whole]) >> (8 - rest) == 0;
}

const char *wv_list_next(const char *list, char item[static WV_LIST_ITEM])
{
	size_t bytes;

	list += strspn(list, SEPARATORS);
	bytes = strcspn(list, SEPARATORS);
	if (!bytes)
		return NULL;
	memcpy(item, list, bytes < WV_LIST_ITEM ? bytes : WV_LIST_ITEM - 1);
	item[bytes < WV_LIST_ITEM ? bytes : WV_LIST_ITEM - 1] = '\0';
	return list + bytes;
}
