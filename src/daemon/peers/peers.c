/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/peers.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>

#define OVERDUE_US 500000
/* For how long a peer that nobody asks for is kept; one that shows a certificate need not wait. */
#define PATIENCE_US 60000000
#define STEADY_US   10000000 /* a connection that held so long was no failure */

/* Ten peers a second may be asked for by GIDs that nobody has used before. */
static const struct wv_allowance_rate demand_rate = {.share_us = 10, .most_us = 32};

static struct wv_peer *add(struct wv_peers *p, const struct wv_node_address *node,
			   int64_t patience_us)
{
	struct wv_peer *peer = wv_peer_table_add(&p->table, node, wv_steady_clock(), patience_us);

	if (peer && !peer->node.port)
		peer->node.port = p->entrance.at.port;
	if (peer && wv_dialler_add(&p->local, peer)) {
		wv_peer_table_remove(&p->table, peer);
		return NULL;
	}
	return peer;
}

static void go_down(struct wv_peers *p, struct wv_peer *peer)
{
	if (wv_steady_clock() - peer->up_us > STEADY_US)
		peer->failures = 0;
	peer->up = NULL;
	peer->state = WV_PEER_IDLE;
	if (p->events)
		p->events->down(p->arg, peer);
}

/* The other addresses of @peer, whose node has gone, are dialled again. */
static void release_others(struct wv_peers *p, struct wv_peer *peer)
{
	struct wv_peer *other;

	TAILQ_FOREACH (other, &p->table.all, entry)
		if (other->state == WV_PEER_SAME && other->same_as == peer) {
			other->same_as = NULL;
			wv_dial_later(other, false, "the other address went down");
		}
}

static void go_up(struct wv_peers *p, struct wv_peer *peer, struct wv_link *link)
{
	wv_dial_never(peer, WV_PEER_UP);
	peer->same_as = NULL;
	peer->up = link;
	peer->up_us = wv_steady_clock();
	*peer->why = '\0';
	link->peer = peer;
	if (wv_log_allowed(&p->peers_limit, peer->up_us))
		wv_log(WV_NOTICE, "peer %s is up", peer->node.name);
	if (p->events)
		p->events->up(p->arg, peer);
}

/* Ends @link. It is no peer's from now on, because its peer may be freed before its end is told. */
static void drop(struct wv_link *link, const char *why)
{
	link->peer = NULL;
	wv_link_end(link, false, "%s", why);
}

/* @link takes the place of the connection that @peer may have. */
static void replace(struct wv_peers *p, struct wv_peer *peer, struct wv_link *link)
{
	struct wv_link *old = peer->up;

	if (old) {
		go_down(p, peer);
		if (memcmp(old->hello.id, link->hello.id, WV_NODE_ID))
			release_others(p, peer);
		drop(old, "another connection between the two nodes is kept");
	}
	go_up(p, peer, link);
}

/* Called by links. */
static bool on_begun(struct wv_link *link)
{
	struct wv_peers *p = link->arg;

	return wv_entrance_allows(&p->entrance, link);
}

/* Called by links: whether the node at the other end may be where it comes from. */
static bool on_proved(struct wv_link *link)
{
	struct wv_peers *p = link->arg;
	const struct wv_peer *peer;
	char ip[INET6_ADDRSTRLEN];

	if (link->dialled) /* checked by OpenSSL */
		return true;
	peer = wv_peer_by_ip(&p->table, &link->ip);
	if (wv_tls_is_for_ip(link->tls, &link->ip) ||
	    (peer && !peer->node.numeric && wv_tls_is_for_name(link->tls, peer->node.name)))
		return true;
	wv_link_end(link, true, "its certificate is not for %s, where it connects from",
		    wv_ip_format(&link->ip, ip));
	return false;
}

/* The peer at the other end of @link, which is new if any is allowed. NULL: there can be none. */
static struct wv_peer *peer_of(struct wv_peers *p, struct wv_link *link)
{
	struct wv_node_address node = {.numeric = true, .ip = link->ip};
	struct wv_peer *peer = link->peer ? link->peer : wv_peer_by_ip(&p->table, &link->ip);

	if (peer || !p->config->any_peer)
		return peer;
	wv_ip_format(&link->ip, node.name);
	return add(p, &node, 0);
}

/* Whether @peer is up and says that it is the node at the other end of @link. */
static bool has_identity(const struct wv_peer *peer, const struct wv_link *link)
{
	return peer->up && !memcmp(peer->up->hello.id, link->hello.id, WV_NODE_ID);
}

/*
 * The peer by which the node at the other end of @link, which @peer stands for, is up: @peer, or
 * another of its addresses, for which its certificate must be, too. Identities are no secret: who
 * has that of another node, but no certificate, is another node, and keeps nobody out. Or NULL.
 */
static struct wv_peer *same_node(struct wv_peers *p, struct wv_peer *peer,
				 const struct wv_link *link)
{
	struct wv_peer *other;

	if (has_identity(peer, link))
		return peer;
	TAILQ_FOREACH (other, &p->table.all, entry)
		if (has_identity(other, link) &&
		    (wv_tls_is_for_ip(link->tls, &other->up->ip) ||
		     (!other->node.numeric && wv_tls_is_for_name(link->tls, other->node.name))))
			return other;
	return NULL;
}

/* @peer is another address of the node that is up by @other. */
static void join(struct wv_peer *peer, struct wv_peer *other)
{
	if (peer->up)
		wv_link_end(peer->up, false, "the node has another connection");
	else
		wv_dial_never(peer, WV_PEER_SAME);
	peer->same_as = other;
}

/* Called by links. */
static void on_opened(struct wv_link *link)
{
	struct wv_peers *p = link->arg;
	struct wv_peer *peer = peer_of(p, link), *same;

	if (!peer) {
		wv_link_end(link, true, "it is not among the peers, or there are max-peers");
		return;
	}
	if (peer->dial == link)
		peer->dial = NULL;
	if (!memcmp(link->hello.id, p->local.id, WV_NODE_ID)) {
		wv_dial_never(peer, WV_PEER_SELF);
		drop(link, "it is this node");
		return;
	}
	same = same_node(p, peer, link);
	if (same && same != peer)
		join(peer, same);
	if (!same || wv_link_beats(link, same->up))
		replace(p, same ? same : peer, link);
	else
		drop(link, "another connection between the two nodes is kept");
}

/* Called by links. */
static int on_message(struct wv_link *link, const struct wv_frame *frame)
{
	struct wv_peers *p = link->arg;

	if (!p->events)
		return -EPROTO;
	return p->events->message(p->arg, link->peer, frame->type, frame->body, frame->length);
}

/* What ends because another connection is kept is no news. */
static void say_end(struct wv_peers *p, const struct wv_link *link, const struct wv_peer *peer)
{
	struct wv_log_limit *limit = peer ? &p->peers_limit : &p->strangers_limit;
	enum wv_log_level level = peer ? WV_NOTICE : WV_INFO;
	char ip[INET6_ADDRSTRLEN];

	if (peer && !strcmp(peer->why, link->why)) /* said before */
		return;
	if (wv_log_allowed(limit, wv_steady_clock()))
		wv_log(link->refused ? WV_WARNING : level, "peer %s (%s): %s",
		       peer ? peer->node.name : "unknown", wv_ip_format(&link->ip, ip), link->why);
}

/* Called by links. */
static void on_ended(struct wv_link *link)
{
	struct wv_peers *p = link->arg;
	struct wv_peer *peer = link->peer;

	if (!peer || peer->up == link || peer->dial == link)
		say_end(p, link, peer);
	if (peer && peer->up == link) {
		go_down(p, peer);
		release_others(p, peer);
		wv_dial_later(peer, link->refused, link->why);
	} else if (peer && peer->dial == link) {
		peer->dial = NULL;
		if (peer->state == WV_PEER_CONNECTING)
			wv_dial_later(peer, link->refused, link->why);
	}
	wv_local_end_unlink(&p->local, link);
}

/* Called when other credentials were read: handshakes begin anew, whoever was refused is tried. */
static void on_renewed(void *arg)
{
	struct wv_peers *p = arg;
	struct wv_peer *peer;
	struct wv_link *link;
	char why[WV_TLS_WHY];

	TAILQ_FOREACH (link, &p->local.links, link)
		if (link->phase != WV_LINK_OPEN)
			wv_link_end(link, false, "the credentials have changed meanwhile");
		else if (!wv_tls_is_valid(link->tls, p->local.context, why))
			wv_link_end(link, true, "%s", why);
	TAILQ_FOREACH (peer, &p->table.all, entry)
		if (peer->state == WV_PEER_REFUSED)
			wv_dial(peer);
}

/* The programs of this node keep the loop busy: peers have their turn all the same. */
static int on_overdue(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_peers *p = data;
	struct wv_link *link;

	(void)now;
	TAILQ_FOREACH (link, &p->local.links, link)
		wv_link_poll(link);
	wv_timer_arm(source, wv_steady_clock() + OVERDUE_US);
	return 0;
}

static void add_configured(struct wv_peers *p)
{
	char item[WV_LIST_ITEM];
	struct wv_node_address node;
	struct wv_peer *peer;

	for (const char *at = p->config->peers; (at = wv_list_next(at, item));) {
		if (wv_node_address_parse(item, 0, &node) || wv_peer_by_node(&p->table, &node))
			continue;
		peer = add(p, &node, PATIENCE_US);
		if (!peer) {
			wv_log(WV_ERROR, "%s and the peers after it are left out: raise max-peers",
			       item);
			return;
		}
		peer->configured = true;
		wv_dial(peer);
	}
}

static void compose(struct wv_peers *p)
{
	static const struct wv_link_events link_events = {
	    .begun = on_begun,
	    .proved = on_proved,
	    .opened = on_opened,
	    .message = on_message,
	    .ended = on_ended,
	};
	const struct wv_config *c = p->config;

	p->local = (struct wv_local_end){
	    .event = p->event,
	    .line = p->line,
	    .files = {.ca = c->peer_ca, .certificate = c->peer_certificate, .key = c->peer_key},
	    .events = &link_events,
	    .arg = p,
	    .renewed = on_renewed,
	    .max_links = p->max_links,
	};
	wv_peer_table_init(&p->table, c->max_peers);
	p->entrance =
	    (struct wv_entrance){.local = &p->local, .table = &p->table, .any = c->any_peer};
	wv_node_address_parse(c->peer_listen, WV_PEER_PORT, &p->local.from);
	p->entrance.at = p->local.from;
}

bool wv_peers_configured(const struct wv_config *config)
{
	return config->any_peer || *config->peers;
}

int wv_peers_start(struct wv_peers *p)
{
	const struct wv_line_options one = {.own = 1, .most = 1, .priority = WV_PRIORITY_PEERS};
	int err;

	if (!wv_peers_configured(p->config))
		return 0;
	err = wv_line_open(p->workers, &one, &p->line);
	if (err)
		return err;
	compose(p);
	p->on = true;
	err = wv_gid_rows_read(&p->table.gids, p->config->peer_gids);
	if (!err)
		err = wv_local_end_start(&p->local);
	if (!err)
		err = wv_entrance_start(&p->entrance);
	if (!err)
		err = wv_timer_add(p->event, WV_PRIORITY_OVERDUE, 0, on_overdue, p, &p->overdue);
	if (err)
		return err;
	wv_timer_arm(p->overdue, wv_steady_clock() + OVERDUE_US);
	add_configured(p);
	return 0;
}

void wv_peers_stop(struct wv_peers *p)
{
	struct wv_peer *peer;

	if (!p->on)
		return;
	TAILQ_FOREACH (peer, &p->table.all, entry)
		wv_dial_never(peer, WV_PEER_IDLE);
	p->overdue = sd_event_source_disable_unref(p->overdue);
	wv_entrance_stop(&p->entrance);
	wv_line_close(&p->line, WV_LINE_PATIENCE_US);
	wv_local_end_stop(&p->local);
	wv_peer_table_finish(&p->table);
	p->on = false;
}

/* A peer that nobody has asked for before, if there may be one. */
static struct wv_peer *demand(struct wv_peers *p, const struct wv_node_address *node)
{
	if (!p->config->any_peer || wv_allowance_wait(&p->demand, &demand_rate, wv_steady_clock()))
		return NULL;
	wv_allowance_charge(&p->demand, 1);
	return add(p, node, PATIENCE_US);
}

struct wv_peer *wv_peers_find(struct wv_peers *p, const uint8_t gid[static 16])
{
	struct wv_node_address node;
	struct wv_peer *peer;

	if (!p->on || !wv_node_of_gid(&p->table.gids, gid, &node))
		return NULL;
	peer = wv_peer_by_node(&p->table, &node);
	if (!peer)
		peer = demand(p, &node);
	if (!peer || peer->state == WV_PEER_SELF)
		return NULL;
	peer->wanted_us = wv_steady_clock();
	if (peer->state == WV_PEER_IDLE)
		wv_dial(peer);
	return peer->state == WV_PEER_SAME ? peer->same_as : peer;
}

bool wv_peers_is_at(const struct wv_peers *p, const struct wv_peer *peer,
		    const uint8_t gid[static 16])
{
	struct wv_node_address node;
	const struct wv_peer *known;

	if (!wv_node_of_gid(&p->table.gids, gid, &node))
		return false;
	known = wv_peer_by_node(&p->table, &node);
	if (known && known->state == WV_PEER_SAME)
		known = known->same_as;
	return known == peer ||
	       (node.numeric && peer->up && wv_tls_is_for_ip(peer->up->tls, &node.ip));
}
