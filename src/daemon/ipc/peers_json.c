/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/peers_json.h"

#include "daemon/ipc/json_number.h"
#include "daemon/ipc/status_json.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/pair_table.h"
#include "daemon/peers/peer_names.h"
#include "daemon/peers/peers.h"

static json_t *address(const struct wv_peer *peer)
{
	const struct in6_addr *ip = peer->up ? &peer->up->ip : peer->n_ips ? peer->ips : NULL;
	char text[INET6_ADDRSTRLEN];

	return ip ? json_string(wv_ip_format(ip, text)) : json_null();
}

static json_t *mismatches(const struct wv_peer_counters *c)
{
	json_t *json = json_object();

	for (unsigned int i = 0; i < WV_MISMATCHES; i++)
		json_object_set_new(json, wv_mismatch_name(i), wv_json_number(c->mismatches[i]));
	return json;
}

static uint64_t sum(const struct wv_peer_counters *c)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < WV_MISMATCHES; i++)
		n += c->mismatches[i];
	return n;
}

/* The edges to servers of @peer, and the pairs of these. */
static void count_edges(const struct wv_service *s, const struct wv_peer *peer, uint64_t *edges,
			uint64_t *pairs)
{
	const struct wv_edge *edge;

	*edges = *pairs = 0;
	if (!s->pairs)
		return;
	TAILQ_FOREACH (edge, &s->pairs->edges.all, link) {
		*edges += edge->peer == peer;
		*pairs += edge->peer == peer ? edge->n_pairs : 0;
	}
}

/* They add up what the programs of all users do, so only the administrator sees them. */
static json_t *counters_seen_by(const struct wv_service *s, const struct wv_peer *peer, uid_t who)
{
	const struct wv_peer_counters *c = &peer->counters;
	uint64_t edges, pairs;

	if (who != WV_ADMINISTRATOR)
		return json_null();
	count_edges(s, peer, &edges, &pairs);
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "edges", wv_json_number(edges), "pairs",
			 wv_json_number(pairs), "hits", wv_json_number(c->hits), "mismatches",
			 wv_json_number(sum(c)), "reasons", mismatches(c));
}

static json_t *why(const struct wv_peer *peer)
{
	bool failed = peer->state == WV_PEER_BACKING_OFF || peer->state == WV_PEER_REFUSED;

	return failed ? json_string(peer->why) : json_null();
}

static json_t *peer_json(const struct wv_service *s, const struct wv_peer *peer, uid_t who)
{
	const struct wv_link *up = peer->up;
	uint64_t up_us = up ? (uint64_t)(wv_now(s->event) - peer->up_us) : 0;

	return json_pack(
	    "{s:s, s:o, s:i, s:s, s:o, s:o, s:o, s:o}", "node", peer->node.name, "address",
	    address(peer), "port", (int)peer->node.port, "state", wv_peer_state_name(peer->state),
	    "why", why(peer), "round_trip_us", wv_json_number(up ? (uint64_t)up->round_trip_us : 0),
	    "up_s", wv_json_number(up_us / 1000000), "counters", counters_seen_by(s, peer, who));
}

json_t *wv_peers_json(const struct wv_service *s, uid_t who)
{
	const struct wv_peers *p = s->peers;
	json_t *list = json_array();
	const struct wv_peer *peer;

	if (!p->on)
		return json_pack("{s:b, s:n, s:o}", "on", 0, "credentials", "peers", list);
	TAILQ_FOREACH (peer, &p->table.all, entry)
		json_array_append_new(list, peer_json(s, peer, who));
	return json_pack("{s:b, s:o, s:o, s:o, s:o}", "on", 1, "credentials",
			 *p->local.why ? json_string(p->local.why) : json_null(), "connections",
			 wv_json_number(p->local.n_links), "turned_away",
			 who == WV_ADMINISTRATOR ? wv_json_number(p->entrance.n_turned_away)
						 : json_null(),
			 "peers", list);
}
