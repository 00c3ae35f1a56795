/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/peer_table.h"

#include "base/base.h"

#include <errno.h>
#include <strings.h>

void wv_peer_table_init(struct wv_peer_table *t, unsigned int most)
{
	*t = (struct wv_peer_table){.most = most};
	TAILQ_INIT(&t->all);
}

void wv_peer_table_remove(struct wv_peer_table *t, struct wv_peer *peer)
{
	TAILQ_REMOVE(&t->all, peer, entry);
	t->n--;
	sd_event_source_disable_unref(peer->due);
	free(peer);
}

/* The peer that was asked for longest ago, and that nothing uses. */
static struct wv_peer *dispensable(const struct wv_peer_table *t, int64_t before_us)
{
	struct wv_peer *peer, *oldest = NULL;

	TAILQ_FOREACH (peer, &t->all, entry)
		if (!peer->configured && !peer->up && !peer->dial && !peer->resolving &&
		    peer->wanted_us < before_us && (!oldest || peer->wanted_us < oldest->wanted_us))
			oldest = peer;
	return oldest;
}

struct wv_peer *wv_peer_table_add(struct wv_peer_table *t, const struct wv_node_address *node,
				  int64_t now_us, int64_t patience_us)
{
	struct wv_peer *old = t->n < t->most ? NULL : dispensable(t, now_us - patience_us);
	struct wv_peer *peer;

	if (old)
		wv_peer_table_remove(t, old);
	if (t->n >= t->most || !(peer = calloc(1, sizeof(*peer))))
		return NULL;
	peer->node = *node;
	peer->wanted_us = now_us;
	peer->n_ips = node->numeric;
	peer->ips[0] = node->ip;
	TAILQ_INSERT_TAIL(&t->all, peer, entry);
	t->n++;
	return peer;
}

void wv_peer_table_finish(struct wv_peer_table *t)
{
	struct wv_peer *peer;

	while ((peer = TAILQ_FIRST(&t->all)))
		wv_peer_table_remove(t, peer);
	free(t->gids.all);
	t->gids = (struct wv_gid_rows){.n = 0};
}

struct wv_peer *wv_peer_by_ip(const struct wv_peer_table *t, const struct in6_addr *ip)
{
	struct wv_peer *peer;

	TAILQ_FOREACH (peer, &t->all, entry)
		for (unsigned int i = 0; i < peer->n_ips; i++)
			if (IN6_ARE_ADDR_EQUAL(&peer->ips[i], ip))
				return peer;
	return NULL;
}

struct wv_peer *wv_peer_by_node(const struct wv_peer_table *t, const struct wv_node_address *node)
{
	struct wv_peer *peer;

	if (node->numeric)
		return wv_peer_by_ip(t, &node->ip);
	TAILQ_FOREACH (peer, &t->all, entry)
		if (!strcasecmp(peer->node.name, node->name))
			return peer;
	return NULL;
}

int wv_gid_rows_read(struct wv_gid_rows *rows, const char *text)
{
	char item[WV_LIST_ITEM];
	struct wv_gid_row *more;

	while ((text = wv_list_next(text, item))) {
		more = reallocarray(rows->all, rows->n + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		rows->all = more;
		if (!wv_gid_row_parse(item, &more[rows->n]))
			rows->n++;
	}
	return 0;
}

bool wv_node_of_gid(const struct wv_gid_rows *rows, const uint8_t gid[static 16],
		    struct wv_node_address *node)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr ip;

	for (size_t i = 0; i < rows->n; i++)
		if (wv_gid_row_covers(&rows->all[i], gid)) {
			*node = rows->all[i].node;
			return true;
		}
	memcpy(&ip, gid, sizeof(ip));
	/* A link-local address is no way to a node: it does not say by which interface. */
	if (IN6_IS_ADDR_LINKLOCAL(&ip) || IN6_IS_ADDR_MULTICAST(&ip) ||
	    IN6_IS_ADDR_UNSPECIFIED(&ip))
		return false;
	return !wv_node_address_parse(wv_ip_format(&ip, text), 0, node);
}

bool wv_peer_table_has_self(const struct wv_peer_table *t, const uint8_t gid[static 16])
{
	struct wv_node_address node;
	const struct wv_peer *peer = NULL;

	if (t->n && wv_node_of_gid(&t->gids, gid, &node))
		peer = wv_peer_by_node(t, &node);
	return peer && peer->state == WV_PEER_SELF;
}
