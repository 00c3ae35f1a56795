/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/keepers.h"

#include "base/base.h"
#include "base/random.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/kept_ends.h"
#include "daemon/pairs/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Pairs in a second that a server is asked for, and at once: all that it says of them is passed on. */
static const struct wv_allowance_rate ask_rate = {.share_us = 1000, .most_us = WV_KEEPER_PAIRS};

#define each_keeper(k, keeper) LIST_FOREACH (keeper, &(k)->all, link)

static void answer(struct wv_keepers *k, struct wv_peer *origin, struct wv_pair_note note)
{
	wv_pair_send(k->links, origin, &note);
}

static struct wv_keeper *find_keeper(struct wv_keepers *k, uint64_t id)
{
	struct wv_keeper *keeper;

	each_keeper(k, keeper) if (keeper->id == id) return keeper;
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

static enum wv_pair_why ask_keeper(struct wv_keepers *k, struct wv_peer *from,
				   const struct wv_pair_note *note)
{
	struct wv_keeper *keeper = find_keeper(k, note->keeper), *other;
	struct wv_kept_pair *pair;
	struct wv_pair_note own;

	if (!wv_pair_ask_is_sound(note) || !keeper || !wv_keeper_is_of_user(k, keeper, note) ||
	    wv_kept_end_find(k, from, note, &other))
		return WV_PAIR_UNKNOWN;
	if (!has_room(keeper, from) ||
	    wv_allowance_wait(&keeper->asks, &ask_rate, wv_steady_clock()))
		return WV_PAIR_NO_SPARE;
	pair = wv_kept_end_add(k, keeper, from, note);
	if (!pair)
		return WV_PAIR_NO_SPARE;
	wv_allowance_charge(&keeper->asks, 1);
	own = *note;
	own.pair = pair->number;
	if (!k->tell(keeper->client, &own))
		return WV_PAIR_NO_REASON;
	wv_kept_end_forget(keeper, pair);
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
	struct wv_kept_pair *pair = wv_kept_end_find(k, from, note, &keeper);

	if (pair)
		wv_kept_end_tell(k, keeper, pair, WV_PAIR_DROP);
	else
		answer(k, from, wv_pair_note_as(note, WV_PAIR_DROPPED, WV_PAIR_NO_REASON));
}

static void take_forgotten(struct wv_keepers *k, struct wv_peer *from,
			   const struct wv_pair_note *note)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair = wv_kept_end_find(k, from, note, &keeper);

	if (pair)
		wv_kept_end_tell(k, keeper, pair, WV_PAIR_DROPPED);
}

static void take_claimed(struct wv_keepers *k, struct wv_peer *from,
			 const struct wv_pair_note *note)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair = wv_kept_end_find(k, from, note, &keeper);

	if (!pair)
		return;
	pair->claimed = true;
	wv_kept_end_tell(k, keeper, pair, WV_PAIR_CLAIMED);
}

void wv_keepers_note(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *note)
{
	switch (note->word) {
	case WV_PAIR_EDGE:
		wv_keepers_ask(k, from, note);
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
	if (wv_kept_end_is_over(pair, peer))
		wv_kept_end_tell(k, keeper, pair, WV_PAIR_DROPPED);
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

void wv_keepers_peer_down(struct wv_keepers *k, struct wv_peer *peer)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair;

	wv_keepers_forget_questions(k, peer);
	each_keeper(k, keeper) LIST_FOREACH (pair, &keeper->pairs, link)
	{
		if (pair->origin != peer)
			continue;
		pair->origin = WV_LOST_PEER;
		wv_kept_end_tell(k, keeper, pair, WV_PAIR_LEAVE);
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
	if (note->word == WV_PAIR_DROP) {
		if (pair->lost)
			return;
		pair->lost = true;
		passed.word = WV_PAIR_LOST;
	}
	passed.pair = pair->pair;
	passed.keeper = keeper->id;
	answer(k, pair->origin, passed);
	if (pair->lost && pair->overdue && !pair->claimed)
		wv_kept_end_tell(k, keeper, pair,
				 WV_PAIR_DROPPED); /* whatever the client's daemon says */
	else if (note->word != WV_PAIR_MADE && note->word != WV_PAIR_DROP)
		wv_kept_end_forget(keeper, pair);
}

int wv_keeper_says(struct wv_keepers *k, struct wv_keeper *keeper, const struct wv_pair_note *note)
{
	if (!wv_pair_note_is_sound(note)) /* a peer would end the connection of the nodes */
		return -EPROTO;
	switch (note->word) {
	case WV_PAIR_CONNECTED:
		wv_keepers_connected(k, keeper, note);
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
			wv_kept_end_tell(k, keeper, pair, WV_PAIR_LEAVE);
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
	uint32_t own = keepers_of(k, tenant);
	struct wv_keeper *keeper;

	if (own == WV_KEEPERS_OF_ONE || own >= wv_share_limit(WV_KEEPERS_MOST, k->n - own))
		return NULL;
	keeper = calloc(1, sizeof(*keeper));
	if (!keeper)
		return NULL;
	keeper->client = client;
	keeper->uid = uid;
	keeper->tenant = tenant;
	keeper->id = wv_random_number();
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
		wv_kept_end_forget(keeper, pair);
	}
	LIST_REMOVE(keeper, link);
	k->n--;
	free(keeper);
}
