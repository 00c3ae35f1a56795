/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/pairs.h"

#include "base/base.h"
#include "base/log.h"
#include "base/random.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/answers.h"
#include "daemon/pairs/keepers.h"
#include "daemon/pairs/kept_ends.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pair_table.h"

#include <errno.h>

/* Some pairs: those that have all that is not NULL here. */
struct some {
	const dev_t *rdev;
	const struct wv_recipe *recipe;
	const struct wv_peer *peer;
	const uint8_t *gid; /* of either end */
};

static bool is_one(const struct wv_pair *pair, const struct some *some)
{
	const struct wv_edge *edge = pair->edge;

	return (!some->rdev || pair->rdev == *some->rdev) &&
	       (!some->recipe || wv_edge_is_of(edge, some->recipe)) &&
	       (!some->peer || pair->peer == some->peer) &&
	       wv_pair_gid_is_of(some->gid, edge->last.gid, edge->last.peer_gid);
}

/* Of those that no program has. */
static void drop(struct wv_pairs *p, enum wv_pair_why why, const struct some *some)
{
	struct wv_pair *pair, *next;

	for (pair = LIST_FIRST(&p->all); pair; pair = next) {
		next = LIST_NEXT(pair, link);
		if (!wv_pair_is_claimed(pair) && is_one(pair, some))
			wv_pair_drop(p, pair, why);
	}
}

/*
 * The address of @gid has changed, on this node or another; NULL: perhaps any has. Leases that no
 * program has yet are closed, since their queue pairs keep the GID in use.
 */
static void address_moved(struct wv_pairs *p, const uint8_t gid[16])
{
	struct wv_edge *edge;

	wv_gids_forget(&p->gids);
	drop(p, WV_PAIR_MOVED, &(struct some){.gid = gid});
	TAILQ_FOREACH (edge, &p->edges.all, link)
		if (wv_pair_gid_is_of(gid, edge->last.gid, edge->last.peer_gid))
			wv_edge_differ(edge);
}

/* A device with an open descriptor cannot be removed. */
static void close_copies(struct wv_pairs *p, dev_t rdev)
{
	struct wv_pair *pair;

	LIST_FOREACH (pair, &p->all, link)
		if (pair->rdev == rdev)
			wv_pair_let_number_go(p, pair);
}

void wv_pairs_drop_device(struct wv_pairs *p, dev_t rdev)
{
	if (!p)
		return;
	wv_gids_forget(&p->gids);
	drop(p, WV_PAIR_MOVED, &(struct some){.rdev = &rdev});
	close_copies(p, rdev);
}

void wv_pairs_drop_recipe(struct wv_pairs *p, const struct wv_recipe *recipe)
{
	if (p)
		drop(p, WV_PAIR_IDLE, &(struct some){.recipe = recipe});
}

/* Nobody will say any more of what the programs of @peer have left. */
static void lose_pairs(struct wv_pairs *p, const struct wv_peer *peer)
{
	struct wv_pair *pair, *next;

	for (pair = LIST_FIRST(&p->all); pair; pair = next) {
		next = LIST_NEXT(pair, link);
		if (pair->peer != peer)
			continue;
		pair->peer = WV_LOST_PEER;
		if (pair->state == WV_PAIR_LEFT)
			wv_pair_forget(p, pair);
	}
}

/* The connection to @peer is lost. */
static void lose_peer(struct wv_pairs *p, struct wv_peer *peer)
{
	struct wv_edge *edge;

	drop(p, WV_PAIR_IDLE, &(struct some){.peer = peer});
	lose_pairs(p, peer);
	TAILQ_FOREACH (edge, &p->edges.all, link) {
		if (edge->last.peer != peer)
			continue;
		edge->last.peer = WV_LOST_PEER;
		wv_edge_differ(edge);
	}
}

static void on_own_address(void *data, const uint8_t gid[16])
{
	wv_keepers_moved(data, gid);
	address_moved(data, gid);
}

static void on_neighbour(void *data, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS])
{
	struct wv_pairs *p = data;

	if (wv_edges_see(&p->edges, gid, at))
		address_moved(p, gid);
}

/* Gives @note to the end that it is for. What no daemon says of the other's pairs is left out. */
static void receive(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note)
{
	switch (note->word) {
	case WV_PAIR_EDGE:
		if (note->keeper) { /* the answer */
			wv_edges_answer(&p->edges, from, note);
			wv_pairs_wake(p);
		} else {
			wv_keepers_ask(p, from, note);
		}
		break;
	case WV_PAIR_ASK:
	case WV_PAIR_CLAIMED:
	case WV_PAIR_DROP:
	case WV_PAIR_FORGOTTEN:
		wv_keepers_note(p, from, note);
		break;
	case WV_PAIR_MADE:
	case WV_PAIR_REFUSED:
	case WV_PAIR_USED:
	case WV_PAIR_DROPPED:
	case WV_PAIR_LOST:
	case WV_PAIR_STILL:
		wv_pairs_note(p, from, note);
		break;
	default:
		break;
	}
}

/* The first note to this node, which is the caller's; NULL: none waits. */
static struct wv_pair_letter *take_letter(struct wv_pairs *p)
{
	struct wv_pair_letter *letter = STAILQ_FIRST(&p->own);

	if (letter) {
		STAILQ_REMOVE_HEAD(&p->own, link);
		p->n_own--;
	}
	return letter;
}

/* Not at once: whoever sends a note to this node is in the middle of something. */
static int on_own(sd_event_source *source, void *data)
{
	struct wv_pairs *p = data;
	wv_auto_free struct wv_pair_letter *letter = take_letter(p);

	if (letter)
		receive(p, NULL, &letter->note);
	if (STAILQ_EMPTY(&p->own))
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

/* Whether @note asks for something about a queue pair that the client's node says is its own. */
static bool speaks_of_own(const struct wv_pair_note *note)
{
	return note->word == WV_PAIR_ASK || (note->word == WV_PAIR_EDGE && !note->keeper);
}

static int on_message(void *data, struct wv_peer *peer, uint16_t type, const void *body,
		      size_t length)
{
	struct wv_pairs *p = data;
	struct wv_pair_note note;

	if (wv_pair_note_read(type, body, length, &note))
		return -EPROTO;
	/* A queue pair of a third node would not know that it is one end of a pair. */
	if (p->with_peers && (!speaks_of_own(&note) || wv_peers_is_at(p->peers, peer, note.gid)))
		receive(p, peer, &note);
	else if (note.word == WV_PAIR_ASK)
		wv_pair_send(p, peer, wv_pair_note_as(&note, WV_PAIR_REFUSED, WV_PAIR_UNKNOWN));
	return 0;
}

static void on_up(void *data, struct wv_peer *peer)
{
	wv_keepers_peer_up(data, peer);
}

static void on_down(void *data, struct wv_peer *peer)
{
	wv_keepers_peer_down(data, peer);
	lose_peer(data, peer);
}

const struct wv_peers_events wv_pairs_of_peers = {on_up, on_down, on_message};

/* Without it, an address that is removed stays in use by pairs until they are idle. */
static void watch_addresses(struct wv_pairs *p)
{
	int err;

	p->addresses = (struct wv_addresses){
	    .event = p->event, .own = on_own_address, .neighbour = on_neighbour, .arg = p};
	err = wv_addresses_start(&p->addresses);
	if (err < 0)
		wv_log(WV_WARNING, "changes of addresses cannot be watched: %s", strerror(-err));
}

static int start_own(struct wv_pairs *p)
{
	int err;

	STAILQ_INIT(&p->own);
	err = sd_event_add_defer(p->event, &p->own_source, on_own, p);
	if (err >= 0)
		err = sd_event_source_set_priority(p->own_source, WV_PRIORITY_CLIENTS);
	return err < 0 ? err : sd_event_source_set_enabled(p->own_source, SD_EVENT_OFF);
}

int wv_pairs_start(struct wv_pairs *p)
{
	static const struct wv_line_options one = {
	    .own = 1, .most = 1, .priority = WV_PRIORITY_PEERS};
	int err;

	LIST_INIT(&p->all);
	wv_edges_init(&p->edges);
	p->number = (uint32_t)wv_random_number() | 1;
	err = wv_line_open(p->workers, &one, &p->line);
	if (!err)
		err = start_own(p);
	if (err >= 0)
		err = wv_kept_ends_start(p);
	if (!err)
		err = wv_timer_add(p->event, WV_PRIORITY_TIMERS, 0, wv_pairs_tick, p, &p->timer);
	if (!err)
		watch_addresses(p);
	return err;
}

void wv_pairs_stop(struct wv_pairs *p)
{
	struct wv_pair_letter *letter;

	wv_addresses_stop(&p->addresses);
	p->timer = sd_event_source_disable_unref(p->timer);
	wv_line_close(&p->line, WV_LINE_PATIENCE_US);
	while (!LIST_EMPTY(&p->all))
		wv_pair_forget(p, LIST_FIRST(&p->all));
	wv_edges_finish(&p->edges);
	wv_keepers_stop(p);
	p->keepers.again = sd_event_source_disable_unref(p->keepers.again);
	p->own_source = sd_event_source_disable_unref(p->own_source);
	while ((letter = take_letter(p)))
		free(letter);
}
