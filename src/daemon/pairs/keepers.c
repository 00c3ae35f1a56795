/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/keepers.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define each_keeper(k, keeper) LIST_FOREACH (keeper, &(k)->all, link)

static void answer(struct wv_keepers *k, struct wv_peer *origin, struct wv_pair_note note)
{
	wv_pair_send(k->links, origin, &note);
}

static int tell(const struct wv_keepers *k, const struct wv_keeper *keeper,
		const struct wv_kept_pair *pair, const struct wv_pair_note *note)
{
	struct wv_pair_note own = *note;

	own.pair = pair->number;
	return k->tell(keeper->client, &own);
}

/* Whether @keeper's program runs as the user that @note is about. */
static bool is_of_user(struct wv_keepers *k, const struct wv_keeper *keeper,
		       const struct wv_pair_note *note)
{
	const char *name = wv_user_name(k->names, keeper->uid);

	return name && *note->user && !strncmp(name, note->user, sizeof(note->user));
}

/* Whether the keeper's connection @own is the other side of the client's @edge. */
static bool is_other_side(const struct wv_pair_note *own, const struct wv_pair_note *edge)
{
	return own->qp_num == edge->peer_qp_num && own->peer_qp_num == edge->qp_num &&
	       !memcmp(own->gid, edge->peer_gid, sizeof(own->gid)) &&
	       !memcmp(own->peer_gid, edge->gid, sizeof(own->gid));
}

static void answer_edge(struct wv_keepers *k, struct wv_peer *origin,
			const struct wv_pair_note *edge, const struct wv_keeper *keeper,
			const struct wv_pair_note *own)
{
	struct wv_pair_note note = *edge;

	note.keeper = keeper->id;
	note.shape = own->shape;
	note.by_request = own->by_request;
	answer(k, origin, note);
}

static bool try_keeper(struct wv_keepers *k, const struct wv_keeper *keeper, struct wv_peer *from,
		       const struct wv_pair_note *edge)
{
	unsigned int n = keeper->n_recent < WV_KEEPER_RECENT ? keeper->n_recent : WV_KEEPER_RECENT;

	for (unsigned int i = 0; i < n; i++) {
		if (!is_other_side(&keeper->recent[i], edge) || !is_of_user(k, keeper, edge))
			continue;
		answer_edge(k, from, edge, keeper, &keeper->recent[i]);
		return true;
	}
	return false;
}

/* The client's report may come before the server's. */
static void take_edge(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *edge)
{
	struct wv_keeper *keeper;

	each_keeper(k, keeper) if (try_keeper(k, keeper, from, edge)) return;
	k->waiting[k->n_waiting++ % WV_EDGES_WAITING] =
	    (struct wv_edge_question){.origin = from, .note = *edge};
}

static void take_connected(struct wv_keepers *k, struct wv_keeper *keeper,
			   const struct wv_pair_note *own)
{
	keeper->recent[keeper->n_recent++ % WV_KEEPER_RECENT] = *own;
	for (unsigned int i = 0; i < WV_EDGES_WAITING; i++) {
		struct wv_edge_question *q = &k->waiting[i];

		if (!q->note.word || !is_other_side(own, &q->note) ||
		    !is_of_user(k, keeper, &q->note))
			continue;
		answer_edge(k, q->origin, &q->note, keeper, own);
		q->note.word = 0;
	}
}

static struct wv_keeper *find_keeper(struct wv_keepers *k, uint32_t id)
{
	struct wv_keeper *keeper;

	each_keeper(k, keeper) if (keeper->id == id) return keeper;
	return NULL;
}

/* Numbers of pairs begin at random with each daemon (pairs.c), so that they tell daemons apart. */
static bool is_of(const struct wv_keepers *k, const struct wv_kept_pair *pair,
		  const struct wv_peer *from)
{
	return pair->origin == from ||
	       (pair->origin == WV_LOST_PEER && wv_pair_link_is_at(k->links, from, pair->peer_gid));
}

/* The pair @note->pair of the client's daemon @from, and *@keeper; NULL: there is none. */
static struct wv_kept_pair *find_pair(struct wv_keepers *k, struct wv_peer *from,
				      const struct wv_pair_note *note, struct wv_keeper **keeper)
{
	struct wv_kept_pair *pair;

	each_keeper(k, *keeper) LIST_FOREACH (
	    pair, &(*keeper)->pairs, link) if (pair->pair == note->pair && is_of(k, pair, from))
	{
		pair->origin = from;
		return pair;
	}
	return NULL;
}

static void forget_pair(struct wv_keeper *keeper, struct wv_kept_pair *pair)
{
	LIST_REMOVE(pair, link);
	keeper->n_pairs--;
	free(pair);
}

static struct wv_kept_pair *add_pair(struct wv_keepers *k, struct wv_keeper *keeper,
				     struct wv_peer *from, const struct wv_pair_note *ask)
{
	struct wv_kept_pair *pair = calloc(1, sizeof(*pair));

	if (!pair)
		return NULL;
	*pair = (struct wv_kept_pair){
	    .origin = from,
	    .pair = ask->pair,
	    .number = ++k->last_number,
	    .since_us = wv_steady_clock(),
	};
	memcpy(pair->peer_gid, ask->gid, sizeof(pair->peer_gid));
	LIST_INSERT_HEAD(&keeper->pairs, pair, link);
	keeper->n_pairs++;
	return pair;
}

static enum wv_pair_why ask_keeper(struct wv_keepers *k, struct wv_peer *from,
				   const struct wv_pair_note *note)
{
	struct wv_keeper *keeper = find_keeper(k, note->keeper), *other;
	struct wv_kept_pair *pair;

	if (!wv_pair_ask_is_sound(note) || !keeper || !is_of_user(k, keeper, note) ||
	    find_pair(k, from, note, &other))
		return WV_PAIR_UNKNOWN;
	if (keeper->n_pairs == WV_KEEPER_PAIRS)
		return WV_PAIR_NO_SPARE;
	pair = add_pair(k, keeper, from, note);
	if (!pair)
		return WV_PAIR_NO_SPARE;
	if (!tell(k, keeper, pair, note))
		return WV_PAIR_NO_REASON;
	forget_pair(keeper, pair);
	return WV_PAIR_NO_SPARE;
}

static void take_ask(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *note)
{
	enum wv_pair_why why = ask_keeper(k, from, note);

	if (why)
		answer(k, from, wv_pair_note_as(note, WV_PAIR_REFUSED, why));
}

/* A pair that is not known is dropped already. */
static void take_drop(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *note)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair = find_pair(k, from, note, &keeper);

	if (pair)
		tell(k, keeper, pair, note);
	else
		answer(k, from, wv_pair_note_as(note, WV_PAIR_DROPPED, WV_PAIR_NO_REASON));
}

/* The client's end of @pair is gone. */
static void end_pair(struct wv_keepers *k, struct wv_keeper *keeper, struct wv_kept_pair *pair)
{
	tell(k, keeper, pair, &(struct wv_pair_note){.word = WV_PAIR_DROPPED});
	forget_pair(keeper, pair);
}

static void take_forgotten(struct wv_keepers *k, struct wv_peer *from,
			   const struct wv_pair_note *note)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair = find_pair(k, from, note, &keeper);

	if (pair)
		end_pair(k, keeper, pair);
}

static void take_claimed(struct wv_keepers *k, struct wv_peer *from,
			 const struct wv_pair_note *note)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair = find_pair(k, from, note, &keeper);

	if (pair)
		tell(k, keeper, pair, note);
}

void wv_keepers_note(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *note)
{
	switch (note->word) {
	case WV_PAIR_EDGE:
		take_edge(k, from, note);
		break;
	case WV_PAIR_ASK:
		take_ask(k, from, note);
		break;
	case WV_PAIR_CLAIMED:
		take_claimed(k, from, note);
		break;
	case WV_PAIR_DROP:
		take_drop(k, from, note);
		break;
	case WV_PAIR_FORGOTTEN:
		take_forgotten(k, from, note);
		break;
	default:
		break;
	}
}

static void ask_about(struct wv_keepers *k, struct wv_peer *peer, struct wv_keeper *keeper,
		      struct wv_kept_pair *pair)
{
	if (k->links->has_rebooted(k->links->arg, peer, pair->since_us))
		end_pair(k, keeper, pair);
	else
		answer(k, peer, (struct wv_pair_note){.word = WV_PAIR_STILL, .pair = pair->pair});
}

void wv_keepers_peer_up(struct wv_keepers *k, struct wv_peer *peer)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair, *next;

	each_keeper(k, keeper) for (pair = LIST_FIRST(&keeper->pairs); pair; pair = next)
	{
		next = LIST_NEXT(pair, link);
		if (pair->origin == WV_LOST_PEER &&
		    wv_pair_link_is_at(k->links, peer, pair->peer_gid))
			ask_about(k, peer, keeper, pair);
	}
}

/* The program of @keeper must not get its end of @pair any more, if it has not got it. */
static void withhold(const struct wv_keepers *k, const struct wv_keeper *keeper,
		     const struct wv_kept_pair *pair)
{
	tell(k, keeper, pair, &(struct wv_pair_note){.word = WV_PAIR_LEAVE});
}

void wv_keepers_peer_down(struct wv_keepers *k, struct wv_peer *peer)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair;

	for (unsigned int i = 0; i < WV_EDGES_WAITING; i++)
		if (k->waiting[i].origin == peer)
			k->waiting[i].note.word = 0;
	each_keeper(k, keeper) LIST_FOREACH (pair, &keeper->pairs, link)
	{
		if (pair->origin != peer)
			continue;
		pair->origin = WV_LOST_PEER;
		withhold(k, keeper, pair);
	}
}

/* What the keeper says of a pair: passed on, under the number that the client's daemon knows. */
static void take_word(struct wv_keepers *k, struct wv_keeper *keeper,
		      const struct wv_pair_note *note)
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
	if (note->word == WV_PAIR_DROP)
		passed.word = WV_PAIR_LOST;
	passed.pair = pair->pair;
	passed.keeper = keeper->id;
	answer(k, pair->origin, passed);
	if (note->word != WV_PAIR_MADE && note->word != WV_PAIR_DROP)
		forget_pair(keeper, pair);
}

int wv_keeper_says(struct wv_keepers *k, struct wv_keeper *keeper, const struct wv_pair_note *note)
{
	if (!wv_pair_note_is_sound(note)) /* a peer would end the connection of the nodes */
		return -EPROTO;
	switch (note->word) {
	case WV_PAIR_CONNECTED:
		take_connected(k, keeper, note);
		return 0;
	case WV_PAIR_MADE:
	case WV_PAIR_REFUSED:
	case WV_PAIR_USED:
	case WV_PAIR_DROP:
	case WV_PAIR_DROPPED:
		take_word(k, keeper, note);
		return 0;
	default:
		return -EPROTO;
	}
}

void wv_keepers_moved(struct wv_keepers *k, const uint8_t gid[16])
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair;

	each_keeper(k, keeper) LIST_FOREACH (pair, &keeper->pairs, link)
	{
		if (wv_pair_gid_is_of(gid, pair->gid, pair->peer_gid))
			withhold(k, keeper, pair);
	}
}

static unsigned int keepers_of(const struct wv_keepers *k, const struct wv_tenant *tenant)
{
	const struct wv_keeper *keeper;
	unsigned int n = 0;

	each_keeper(k, keeper) n += keeper->tenant == tenant;
	return n;
}

struct wv_keeper *wv_keeper_add(struct wv_keepers *k, void *client, uid_t uid,
				const struct wv_tenant *tenant)
{
	struct wv_keeper *keeper;

	if (k->n == WV_KEEPERS_MOST || keepers_of(k, tenant) == WV_KEEPERS_OF_ONE)
		return NULL;
	keeper = calloc(1, sizeof(*keeper));
	if (!keeper)
		return NULL;
	keeper->client = client;
	keeper->uid = uid;
	keeper->tenant = tenant;
	keeper->id = ++k->last_id;
	LIST_INSERT_HEAD(&k->all, keeper, link);
	k->n++;
	wv_user_name(k->names, uid); /* has it looked up */
	return keeper;
}

void wv_keeper_remove(struct wv_keepers *k, struct wv_keeper *keeper)
{
	struct wv_kept_pair *pair;

	while ((pair = LIST_FIRST(&keeper->pairs))) {
		answer(k, pair->origin,
		       (struct wv_pair_note){
			   .word = WV_PAIR_LOST, .why = WV_PAIR_ENDED, .pair = pair->pair});
		forget_pair(keeper, pair);
	}
	LIST_REMOVE(keeper, link);
	k->n--;
	free(keeper);
}
