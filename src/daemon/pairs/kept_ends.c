/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/kept_ends.h"

#include "base/base.h"
#include "base/random.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/links.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_US 50000 /* until a keeper that does not read is told again */

/*
 * For which a client's daemon may have an end that no program has claimed; it keeps them for less.
 */
#define UNCLAIMED_US 120000000

int wv_keeper_tell(const struct wv_keeper *keeper, const struct wv_pair_note *note)
{
	struct wv_msg_pair msg = {.note = *note};

	wv_msg_init(&msg.msg, WV_MSG_PAIR, sizeof(msg));
	return wv_send(keeper->sock, &msg, sizeof(msg), NULL, 0, NULL, 0);
}

void wv_kept_end_forget(struct wv_kept_pair *pair)
{
	LIST_REMOVE(pair, link);
	pair->keeper->n_pairs--;
	free(pair);
}

/*
 * Tells the keeper what it has not been told of @pair, which is over after DROPPED. False: not yet.
 */
static bool tell_rest(struct wv_kept_pair *pair)
{
	const struct wv_pair_note note = {.word = pair->untold, .pair = pair->number};

	if (note.word && wv_keeper_tell(pair->keeper, &note))
		return false;
	pair->untold = 0;
	if (note.word == WV_PAIR_DROPPED)
		wv_kept_end_forget(pair);
	return true;
}

/* The later a word is in the life of a pair, the less the ones before it matter. */
void wv_kept_end_tell(struct wv_pairs *p, struct wv_kept_pair *pair, enum wv_pair_word word)
{
	static const uint8_t order[WV_PAIR_WORDS] = {
	    [WV_PAIR_CLAIMED] = 1, [WV_PAIR_LEAVE] = 2, [WV_PAIR_DROP] = 3, [WV_PAIR_DROPPED] = 4};

	if (order[word] <= order[pair->untold])
		return;
	pair->untold = (uint16_t)word;
	if (!tell_rest(pair) && pair->keeper->sock >= 0)
		wv_timer_arm(p->keepers.again, wv_steady_clock() + AGAIN_US);
}

/* When something is to be done about @pair. */
static int64_t due_us(const struct wv_kept_pair *pair)
{
	if (pair->keeper->sock < 0)
		return INT64_MAX;
	if (pair->untold)
		return wv_steady_clock() + AGAIN_US;
	return pair->claimed || pair->overdue ? INT64_MAX : pair->since_us + UNCLAIMED_US;
}

static void look_after(struct wv_pairs *p, struct wv_kept_pair *pair)
{
	if (due_us(pair) > wv_steady_clock()) {
		tell_rest(pair);
		return;
	}
	pair->overdue = true;
	wv_kept_end_tell(p, pair, WV_PAIR_LEAVE);
}

static int on_again(sd_event_source *timer, uint64_t now, void *data)
{
	struct wv_pairs *p = data;
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair, *next;

	(void)now;
	LIST_FOREACH (keeper, &p->keepers.all, link)
		for (pair = LIST_FIRST(&keeper->pairs); pair; pair = next) {
			next = LIST_NEXT(pair, link);
			look_after(p, pair);
		}
	LIST_FOREACH (keeper, &p->keepers.all, link)
		LIST_FOREACH (pair, &keeper->pairs, link) {
			if (due_us(pair) != INT64_MAX)
				wv_timer_hasten(timer, due_us(pair));
		}
	return 0;
}

/* Numbers of pairs begin at random with each daemon (pairs.c), so that they tell daemons apart. */
struct wv_kept_pair *wv_kept_end_find(struct wv_pairs *p, struct wv_peer *from,
				      const struct wv_pair_note *note)
{
	struct wv_keeper *keeper;
	struct wv_kept_pair *pair;

	LIST_FOREACH (keeper, &p->keepers.all, link)
		LIST_FOREACH (pair, &keeper->pairs, link)
			if (pair->pair == note->pair &&
			    wv_pair_link_is(p, from, pair->origin, pair->peer_gid)) {
				pair->origin = from;
				return pair;
			}
	return NULL;
}

struct wv_kept_pair *wv_kept_end_add(struct wv_pairs *p, struct wv_keeper *keeper,
				     struct wv_peer *from, const struct wv_pair_note *ask)
{
	struct wv_kept_pair *pair = calloc(1, sizeof(*pair));

	if (!pair)
		return NULL;
	*pair = (struct wv_kept_pair){
	    .keeper = keeper,
	    .origin = from,
	    .pair = ask->pair,
	    .number = wv_random_number(),
	    .since_us = wv_steady_clock(),
	};
	memcpy(pair->peer_gid, ask->gid, sizeof(pair->peer_gid));
	if (from)
		memcpy(pair->daemon, from->up->hello.id, sizeof(pair->daemon));
	LIST_INSERT_HEAD(&keeper->pairs, pair, link);
	keeper->n_pairs++;
	wv_timer_hasten(p->keepers.again, due_us(pair));
	return pair;
}

int wv_kept_ends_start(struct wv_pairs *p)
{
	return wv_timer_add(p->event, WV_PRIORITY_TIMERS, 0, on_again, p, &p->keepers.again);
}
