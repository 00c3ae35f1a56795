/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/pairs.h"

#include "base/base.h"
#include "base/random.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pair_table.h"

/* Drops the pairs that no program has, of those for which @applies. */
static void drop_unclaimed(struct wv_pairs *p, enum wv_pair_why why,
			   bool (*applies)(const struct wv_pair *pair, const void *arg),
			   const void *arg)
{
	struct wv_pair *pair, *next;

	for (pair = LIST_FIRST(&p->all); pair; pair = next) {
		next = LIST_NEXT(pair, link);
		if (!wv_pair_is_claimed(pair) && applies(pair, arg))
			wv_pair_drop(p, pair, why);
	}
}

static bool is_on_device(const struct wv_pair *pair, const void *arg)
{
	return pair->rdev == *(const dev_t *)arg;
}

static bool is_of_recipe(const struct wv_pair *pair, const void *arg)
{
	return wv_edge_is_of(pair->edge, arg);
}

static bool is_of_peer(const struct wv_pair *pair, const void *arg)
{
	return pair->edge->peer == arg;
}

static bool ends_at(const struct wv_edge *edge, const uint8_t *gid)
{
	return wv_pair_gid_is_of(gid, edge->gid, edge->peer_gid);
}

static bool has_end_at(const struct wv_pair *pair, const void *gid)
{
	return ends_at(pair->edge, gid);
}

void wv_pairs_moved(struct wv_pairs *p, const uint8_t gid[16])
{
	struct wv_edge *edge;

	wv_gids_forget(&p->gids);
	drop_unclaimed(p, WV_PAIR_MOVED, has_end_at, gid);
	TAILQ_FOREACH (edge, &p->edges.all, link)
		if (ends_at(edge, gid))
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
	drop_unclaimed(p, WV_PAIR_MOVED, is_on_device, &rdev);
	close_copies(p, rdev);
}

void wv_pairs_drop_recipe(struct wv_pairs *p, const struct wv_recipe *recipe)
{
	if (p)
		drop_unclaimed(p, WV_PAIR_IDLE, is_of_recipe, recipe);
}

void wv_pairs_peer_down(struct wv_pairs *p, struct wv_peer *peer)
{
	struct wv_edge *edge;

	drop_unclaimed(p, WV_PAIR_IDLE, is_of_peer, peer);
	TAILQ_FOREACH (edge, &p->edges.all, link) {
		if (edge->peer != peer)
			continue;
		edge->peer = WV_LOST_PEER;
		wv_edge_differ(edge);
	}
}

int wv_pairs_start(struct wv_pairs *p)
{
	static const struct wv_line_options connects = {
	    .own = 1, .most = 1, .priority = WV_PRIORITY_PEERS};
	int err;

	LIST_INIT(&p->all);
	wv_edges_init(&p->edges);
	p->number = (uint32_t)wv_random_number() | 1;
	err = wv_timer_add(p->event, WV_PRIORITY_TIMERS, 0, wv_pairs_tick, p, &p->timer);
	if (!err)
		err = wv_line_open(p->workers, &connects, &p->line);
	return err;
}

void wv_pairs_stop(struct wv_pairs *p)
{
	if (!p->timer)
		return;
	p->timer = sd_event_source_disable_unref(p->timer);
	wv_line_close(&p->line, WV_LINE_PATIENCE_US);
	while (!LIST_EMPTY(&p->all))
		wv_pair_forget(p, LIST_FIRST(&p->all));
	wv_edges_finish(&p->edges);
}
