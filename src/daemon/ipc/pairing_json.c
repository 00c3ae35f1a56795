/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/pairing_json.h"

#include "daemon/ipc/documents.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/pair_state.h"

struct reason {
	enum wv_pair_why why;
	const char *name; /* NULL after the last */
};

static const struct reason of_unlike[] = {
    {WV_PAIR_NO_REASON, "unknown"},	{WV_PAIR_ENDED, "ended"},
    {WV_PAIR_OTHER_PEER, "other_peer"}, {WV_PAIR_ATTRIBUTES, "attributes"},
    {WV_PAIR_MOVED, "moved"},		{},
};

static const struct reason of_refused[] = {
    {WV_PAIR_NO_SPARE, "no_spare"},
    {WV_PAIR_UNKNOWN, "unknown"},
    {WV_PAIR_ATTRIBUTES, "attributes"},
    {WV_PAIR_KERNEL, "kernel"},
    {},
};

/* As wv_pair_count() counts. */
static const struct reason of_peers[] = {
    {WV_PAIR_OTHER_PEER, "other_peer"},
    {WV_PAIR_ATTRIBUTES, "attributes"},
    {WV_PAIR_ENDED, "ended"},
    {},
};

static const char *const peer_states[WV_PEER_STATES] = {
    [WV_PEER_IDLE] = "idle",
    [WV_PEER_CONNECTING] = "connecting",
    [WV_PEER_UP] = "up",
    [WV_PEER_BACKING_OFF] = "backing off",
    [WV_PEER_REFUSED] = "refused",
    [WV_PEER_SELF] = "this node",
    [WV_PEER_SAME] = "another address",
};

static json_t *by_reason(const struct reason *reasons, const uint64_t counts[WV_PAIR_WHYS])
{
	json_t *json = json_object();

	for (; reasons->name; reasons++)
		json_object_set_new(json, reasons->name, wv_json_number(counts[reasons->why]));
	return json;
}

static uint64_t count(const struct wv_pairs *p, enum wv_pair_state state)
{
	const struct wv_pair *pair;
	uint64_t n = 0;

	LIST_FOREACH (pair, &p->all, link)
		n += pair->state == state;
	return n;
}

json_t *wv_pairs_json(const struct wv_service *s)
{
	const struct wv_pairs *p = s->pairs;

	if (!p)
		return json_null();
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ready",
	    wv_json_number(count(p, WV_PAIR_READY)), "handed_out",
	    wv_json_number(count(p, WV_PAIR_HANDED_OUT) + count(p, WV_PAIR_LEFT)), "edges",
	    wv_json_number(p->edges.n), "servers", wv_json_number(p->keepers.n), "made",
	    wv_json_number(p->tally.made), "used", wv_json_number(p->tally.used), "idle",
	    wv_json_number(p->tally.idle), "refused", by_reason(of_refused, p->tally.refused),
	    "lost", wv_json_number(p->tally.lost), "unlike", by_reason(of_unlike, p->tally.unlike));
}

static json_t *address(const struct wv_peer *peer)
{
	const struct in6_addr *ip = peer->up ? &peer->up->ip : peer->n_ips ? peer->ips : NULL;
	char text[INET6_ADDRSTRLEN];

	return ip ? json_string(wv_ip_format(ip, text)) : json_null();
}

/* They add up what the programs of all users do, so only the administrator sees them. */
static json_t *counters_seen_by(const struct wv_service *s, const struct wv_peer *peer, uid_t who)
{
	const uint64_t *n = peer->pairs;
	uint64_t edges = 0, pairs = 0;
	const struct wv_edge *edge;

	if (who != WV_ADMINISTRATOR)
		return json_null();
	if (s->pairs)
		TAILQ_FOREACH (edge, &s->pairs->edges.all, link) {
			edges += edge->last.peer == peer;
			pairs += edge->last.peer == peer ? edge->n_pairs : 0;
		}
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o}", "edges", wv_json_number(edges), "pairs",
	    wv_json_number(pairs), "hits", wv_json_number(n[WV_PAIR_NO_REASON]), "mismatches",
	    wv_json_number(n[WV_PAIR_OTHER_PEER] + n[WV_PAIR_ATTRIBUTES] + n[WV_PAIR_ENDED]),
	    "reasons", by_reason(of_peers, n));
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
	    address(peer), "port", (int)peer->node.port, "state", peer_states[peer->state], "why",
	    why(peer), "round_trip_us", wv_json_number(up ? (uint64_t)up->round_trip_us : 0),
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
