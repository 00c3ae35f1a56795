/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/keepers.h"

#include "base/base.h"
#include "base/random.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/kept_ends.h"
#include "daemon/pairs/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Pairs in a second that a server is asked for, and at once: all that it says of them is passed on.
 */
static const struct wv_allowance_rate ask_rate = {.share_us = 1000, .most_us = WV_KEEPER_PAIRS};

#define each_keeper(p, keeper) LIST_FOREACH (keeper, &(p)->keepers.all, link)

/* Whether the program of @keeper runs as the user that @note is about. */
static bool is_of_user(struct wv_pairs *p, const struct wv_keeper *keeper,
		       const struct wv_pair_note *note)
{
	const char *name = wv_user_name(p->names, keeper->uid);

	return name && *note->user && !strncmp(name, note->user, sizeof(note->user));
}

/* Whether the keeper's connection @own is the other side of the client's @edge. */
static bool is_other_side(const struct wv_pair_note *own, const struct wv_pair_note *edge)
{
	return own->qp_num == edge->peer_qp_num && own->peer_qp_num == edge->qp_num &&
	       !memcmp(own->gid, edge->peer_gid, sizeof(own->gid)) &&
	       !memcmp(own->peer_gid, edge->gid, sizeof(own->gid));
}

static void answer_edge(struct wv_pairs *p, struct wv_peer *origin, const struct wv_pair_note *edge,
			const struct wv_keeper *keeper, const struct wv_pair_note *own)
{
	struct wv_pair_note note = *edge;

	note.keeper = keeper->id;
	note.shape = own->shape;
	note.by_request = own->by_request;
	wv_pair_send(p, origin, note);
}

static bool try_keeper(struct wv_pairs *p, const struct wv_keeper *keeper, struct wv_peer *from,
		       const struct wv_pair_note *edge)
{
	unsigned int n = keeper->n_recent < WV_KEEPER_RECENT ? keeper->n_recent : WV_KEEPER_RECENT;

	for (unsigned int i = 0; i < n; i++) {
		if (!is_other_side(&keeper->recent[i], edge) || !is_of_user(p, keeper, edge))
			continue;
		answer_edge(p, from, edge, keeper, &keeper->recent[i]);
		return true;
	}
	return false;
}

void wv_keepers_ask(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *edge)
{
	struct wv_keepers *k = &p->keepers;
	struct wv_keeper *keeper;

	LIST_FOREACH (keeper, &k->all, link)
		if (try_keeper(p, keeper, from, edge))
			return;
	k->waiting[k->n_waiting++ % WV_EDGES_WAITING] =
	    (struct wv_edge_question){.origin = from, .note = *edge};
}

static void note_connected(struct wv_pairs *p, struct wv_keeper *keeper,
			   const struct wv_pair_note *own)
{
	keeper->recent[keeper->n_recent++ % WV_KEEPER_RECENT] = *own;
	for (unsigned int i = 0; i < WV_EDGES_WAITING; i++) {
		struct wv_edge_question *q = &p->keepers.waiting[i];

		if (!q->note.word || !is_other_side(own, &q->note) ||
		    !is_of_user(p, keeper, &q->note))
			continue;
		answer_edge(p, q->origin, &q->note, keeper, own);
		q->note.word = 0;
	}
}

static struct wv_keeper *find_keeper(struct wv_pairs *p, uint64_t id)
{
	struct wv_keeper *keeper;

	each_keeper(p, keeper) if (keeper->id == id) return keeper;
	return NULL;
}

/* No client's node gets all ends of a server. */
static bool has_room(const struct wv_keeper *keeper, const struct wv_peer *from)
{
	const struct wv_kept_pair *pair;
	unsigned int n = 0;

	LIST_FOREACH (pair, &keeper->pairs, link)
		n += pair->origin == from;
	return n < wv_share_limit(WV_KEEPER_PAIRS, keeper->n_pairs - n);
}

static enum wv_pair_why ask_keeper(struct wv_pairs *p, struct wv_peer *from,
				   const struct wv_pair_note *note)
{
	struct wv_keeper *keeper = find_keeper(p, note->keeper);
	struct wv_kept_pair *pair;
	struct wv_pair_note own;

	if (!wv_pair_ask_is_sound(note) || !keeper || !is_of_user(p, keeper, note) ||
	    wv_kept_end_find(p, from, note))
		return WV_PAIR_UNKNOWN;
	if (!has_room(keeper, from) ||
	    wv_allowance_wait(&keeper->asks, &ask_rate, wv_steady_clock()))
		return WV_PAIR_NO_SPARE;
	pair = wv_kept_end_add(p, keeper, from, note);
	if (!pair)
		return WV_PAIR_NO_SPARE;
	wv_allowance_charge(&keeper->asks, 1);
	own = *note;
	own.pair = pair->number;
	if (!wv_keeper_tell(keeper, &own))
		return WV_PAIR_NO_REASON;
	wv_kept_end_forget(pair);
	return WV_PAIR_NO_SPARE;
}

void wv_keepers_note(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note)
{
	static const enum wv_pair_word told[WV_PAIR_WORDS] = {
	    [WV_PAIR_CLAIMED] = WV_PAIR_CLAIMED,
	    [WV_PAIR_DROP] = WV_PAIR_DROP,
	    [WV_PAIR_FORGOTTEN] = WV_PAIR_DROPPED,
	};
	struct wv_kept_pair *pair;

	if (note->word == WV_PAIR_ASK) {
		enum wv_pair_why why = ask_keeper(p, from, note);

		if (why)
			wv_pair_send(p, from, wv_pair_note_as(note, WV_PAIR_REFUSED, why));
		return;
	}
	pair = wv_kept_end_find(p, from, note);
	if (pair) {
		pair->claimed = note->word == WV_PAIR_CLAIMED;
		if (pair->keeper->sock >= 0)
			wv_kept_end_tell(p, pair, told[note->word]);
		else
			wv_keeper_goes_on(p, pair->keeper);
	} else if (note->word == WV_PAIR_DROP) { /* it is dropped already */
		wv_pair_send(p, from, wv_pair_note_as(note, WV_PAIR_DROPPED, WV_PAIR_NO_REASON));
	}
}

/*
 * Whether the client's end, whose node is up as @peer, is gone for certain: the node was started
 * again; or its daemon was, which had the end for itself.
 */
static bool is_over(const struct wv_kept_pair *pair, const struct wv_peer *peer)
{
	return wv_peer_is_rebooted(peer, pair->since_us) ||
	       (!pair->claimed &&
		memcmp(pair->daemon, peer->up->hello.id, sizeof(pair->daemon)) != 0);
}

static void ask_about(struct wv_pairs *p, struct wv_peer *peer, struct wv_kept_pair *pair)
{
	if (is_over(pair, peer))
		wv_kept_end_tell(p, pair, WV_PAIR_DROPPED);
	else
		wv_pair_send(p, peer,
			     (struct wv_pair_note){.word = WV_PAIR_STILL, .pair = pair->pair});
}

void wv_keepers_peer_up(struct wv_pairs *p, struct wv_peer *peer)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair, *next;

	each_keeper(p, keeper) for (pair = LIST_FIRST(&keeper->pairs); pair; pair = next)
	{
		next = LIST_NEXT(pair, link);
		if (pair->origin == WV_LOST_PEER &&
		    wv_pair_link_is(p, peer, pair->origin, pair->peer_gid))
			ask_about(p, peer, pair);
	}
}

void wv_keepers_peer_down(struct wv_pairs *p, struct wv_peer *peer)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair;

	for (unsigned int i = 0; i < WV_EDGES_WAITING; i++)
		if (p->keepers.waiting[i].origin == peer)
			p->keepers.waiting[i].note.word = 0;
	each_keeper(p, keeper) LIST_FOREACH (pair, &keeper->pairs, link)
	{
		if (pair->origin != peer)
			continue;
		pair->origin = WV_LOST_PEER;
		wv_kept_end_tell(p, pair, WV_PAIR_LEAVE);
	}
}

/* What the keeper says of a pair: passed on, under the number that the client's daemon knows. */
static void take_word(struct wv_pairs *p, struct wv_keeper *keeper, const struct wv_pair_note *note)
{
	struct wv_kept_pair *pair;
	struct wv_pair_note passed = *note;

	LIST_FOREACH (pair, &keeper->pairs, link)
		if (pair->number == note->pair)
			break;
	if (!pair)
		return; /* both sides have dropped it at the same time */
	if (note->word == WV_PAIR_MADE) {
		if (pair->made)
			return;
		pair->made = true;
		memcpy(pair->gid, note->gid, sizeof(pair->gid));
	}
	if (note->word == WV_PAIR_DROP) {
		if (pair->lost)
			return;
		pair->lost = true;
		passed.word = WV_PAIR_LOST;
	}
	passed.pair = pair->pair;
	passed.keeper = keeper->id;
	wv_pair_send(p, pair->origin, passed);
	if (pair->lost && pair->overdue && !pair->claimed)
		wv_kept_end_tell(p, pair, WV_PAIR_DROPPED); /* whatever the client's daemon says */
	else if (note->word == WV_PAIR_REFUSED || note->word == WV_PAIR_DROPPED)
		wv_kept_end_forget(pair);
}

int wv_keeper_says(struct wv_pairs *p, struct wv_keeper *keeper, const struct wv_pair_note *note)
{
	if (!wv_pair_note_is_sound(note)) /* a peer would end the connection of the nodes */
		return -EPROTO;
	switch (note->word) {
	case WV_PAIR_CONNECTED:
		note_connected(p, keeper, note);
		return 0;
	case WV_PAIR_MADE:
	case WV_PAIR_REFUSED:
	case WV_PAIR_USED:
	case WV_PAIR_DROP:
	case WV_PAIR_DROPPED:
		take_word(p, keeper, note);
		return 0;
	default:
		return -EPROTO;
	}
}

void wv_keepers_moved(struct wv_pairs *p, const uint8_t gid[16])
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair;

	each_keeper(p, keeper) LIST_FOREACH (pair, &keeper->pairs, link)
	{
		if (wv_pair_gid_is_of(gid, pair->gid, pair->peer_gid))
			wv_kept_end_tell(p, pair, WV_PAIR_LEAVE);
	}
}

static unsigned int keepers_of(const struct wv_pairs *p, const struct wv_tenant *tenant)
{
	const struct wv_keeper *keeper;
	unsigned int n = 0;

	each_keeper(p, keeper) n += keeper->tenant == tenant;
	return n;
}

static void on_ended(struct wv_end_watch *end)
{
	struct wv_keeper *keeper = WV_OWNER(end, struct wv_keeper, end);

	wv_keeper_remove(end->arg, keeper);
}

struct wv_keeper *wv_keeper_add(struct wv_pairs *p, int sock, uid_t uid,
				const struct wv_tenant *tenant)
{
	uint32_t own = keepers_of(p, tenant);
	struct wv_keeper *keeper;

	if (own == WV_KEEPERS_OF_ONE || own >= wv_share_limit(WV_KEEPERS_MOST, p->keepers.n - own))
		return NULL;
	keeper = calloc(1, sizeof(*keeper));
	if (!keeper)
		return NULL;
	keeper->sock = sock;
	keeper->end = (struct wv_end_watch){.ended = on_ended, .arg = p};
	keeper->uid = uid;
	keeper->tenant = tenant;
	keeper->id = wv_random_number();
	LIST_INSERT_HEAD(&p->keepers.all, keeper, link);
	p->keepers.n++;
	wv_user_name(p->names, uid); /* has it looked up */
	return keeper;
}

static void lose(struct wv_pairs *p, struct wv_kept_pair *pair)
{
	wv_pair_send(
	    p, pair->origin,
	    (struct wv_pair_note){.word = WV_PAIR_LOST, .why = WV_PAIR_ENDED, .pair = pair->pair});
	wv_kept_end_forget(pair);
}

void wv_keeper_goes_on(struct wv_pairs *p, struct wv_keeper *keeper)
{
	struct wv_kept_pair *pair, *next;

	keeper->sock = -1;
	keeper->id = 0;
	keeper->n_recent = 0;
	for (pair = LIST_FIRST(&keeper->pairs); pair; pair = next) {
		next = LIST_NEXT(pair, link);
		if (!pair->claimed)
			lose(p, pair);
	}
	if (LIST_EMPTY(&keeper->pairs))
		wv_keeper_remove(p, keeper);
}

void wv_keeper_remove(struct wv_pairs *p, struct wv_keeper *keeper)
{
	while (!LIST_EMPTY(&keeper->pairs))
		lose(p, LIST_FIRST(&keeper->pairs));
	wv_end_unwatch(&keeper->end);
	LIST_REMOVE(keeper, link);
	p->keepers.n--;
	free(keeper);
}

void wv_keepers_stop(struct wv_pairs *p)
{
	struct wv_keeper *keeper;

	while ((keeper = LIST_FIRST(&p->keepers.all))) {
		while (!LIST_EMPTY(&keeper->pairs))
			wv_kept_end_forget(LIST_FIRST(&keeper->pairs));
		wv_keeper_remove(p, keeper);
	}
}
