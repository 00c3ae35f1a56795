/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/making.h"

#include "base/base.h"
#include "base/random.h"
#include "cmdlog/qp_steps.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/pair_table.h"

#define US	  1000000
#define TICK_US	  50000
#define QUIET_US  US
#define PSN_MASK  0xffffffu
#define ANSWER_US (2 * US)  /* a server that has not answered by then will not */
#define IDLE_US	  (60 * US) /* of a pair that nobody claimed */

#define PER_TICK 4 /* pairs of an edge */

/* The pool of which one lease is taken has another one left. */
#define LEASES_WANTED 2

static int ask(struct wv_pairs *p, const struct wv_pair *pair)
{
	const struct wv_edge *edge = pair->edge;
	struct wv_lease_pair *own = &pair->lease->pair;
	struct wv_step *create = wv_cmdlog_nth(pair->lease->cmdlog, edge->last.create);

	*own = (struct wv_lease_pair){
	    .pair = pair->id,
	    .create = edge->last.create,
	    .psn = wv_random_number() & PSN_MASK,
	    .peer_psn = wv_random_number() & PSN_MASK,
	};
	return wv_pair_ask(p, edge,
			   (struct wv_pair_note){
			       .word = WV_PAIR_ASK,
			       .keeper = edge->keeper,
			       .pair = pair->id,
			       .shape = edge->shape,
			       .qp_num = create ? wv_step_qp_num(create) : 0,
			       .psn = own->peer_psn,
			       .peer_psn = own->psn,
			   });
}

static void make_one(struct wv_pairs *p, struct wv_edge *edge, struct wv_pool *pool)
{
	struct wv_pooled_lease *lease = wv_pool_take(pool);
	struct wv_pair *pair = wv_pair_add(p, edge, pool, lease);

	if (!pair) {
		wv_pool_put(pool, lease);
		return;
	}
	wv_scheduler_go_on(p->scheduler); /* the pool has one less */
	if (ask(p, pair)) {
		wv_pair_put_into_pool(p, pair);
		wv_edge_fail(edge, wv_now(p->event));
	}
}

/* A server that must guess serves one claim at a time. */
static uint32_t wanted(const struct wv_edge *edge, const struct wv_pool *pool)
{
	uint32_t n = edge->by_request ? pool->target : pool->target / 2;
	uint32_t most = edge->by_request ? WV_PAIRS_PER_EDGE : WV_PAIRS_GUESSED;

	return n < 1 ? 1 : n > most ? most : n;
}

static bool is_lacking(const struct wv_pairs *p, const struct wv_edge *edge,
		       const struct wv_pool *pool)
{
	int64_t now_us = wv_now(p->event);

	return pool && p->n < WV_PAIRS_MOST &&
	       edge->n_pairs - edge->n_claimed < wanted(edge, pool) &&
	       wv_edge_is_in_use(edge, now_us) && now_us >= edge->pause_until_us;
}

static void make_pairs(struct wv_pairs *p)
{
	struct wv_edge *edge;

	TAILQ_FOREACH (edge, &p->edges.all, link) {
		struct wv_pool *pool = wv_pair_pool(p, edge);

		for (unsigned int i = 0; i < PER_TICK; i++)
			if (is_lacking(p, edge, pool) && pool->n_ready >= LEASES_WANTED)
				make_one(p, edge, pool);
	}
}

uint32_t wv_pairs_requested(const struct wv_pairs *p, const struct wv_recipe *recipe)
{
	const struct wv_edge *edge;

	if (!p)
		return 0;
	TAILQ_FOREACH (edge, &p->edges.all, link)
		if (wv_edge_is_of(edge, recipe) && is_lacking(p, edge, recipe->pool))
			return LEASES_WANTED;
	return 0;
}

static void review(struct wv_pairs *p, struct wv_pair *pair)
{
	int64_t age_us = wv_now(p->event) - pair->since_us;

	if (pair->state == WV_PAIR_ASKED && age_us > ANSWER_US) {
		wv_pair_say(p, pair, WV_PAIR_DROP, WV_PAIR_IDLE);
		wv_edge_fail(pair->edge, wv_now(p->event));
		wv_pair_put_into_pool(p, pair);
	} else if (pair->state == WV_PAIR_READY && age_us > IDLE_US) {
		p->tally.idle++;
		wv_pair_drop(p, pair, WV_PAIR_IDLE);
	}
}

/*
 * Soon, if something is to happen: an answer, or another pair; or else, if a pair waits, or an edge
 * that was used lately may get pairs again. A node on which nothing is connected has no timer.
 */
static void look_again(struct wv_pairs *p)
{
	int64_t now_us = wv_now(p->event);
	bool busy = false, in_use = false;
	const struct wv_edge *edge;
	const struct wv_pair *pair;

	LIST_FOREACH (pair, &p->all, link)
		busy |= pair->state == WV_PAIR_ASKED;
	TAILQ_FOREACH (edge, &p->edges.all, link) {
		busy |= is_lacking(p, edge, wv_pair_pool(p, edge));
		in_use |= edge->n_pairs > edge->n_claimed || wv_edge_is_in_use(edge, now_us);
	}
	if (busy || in_use)
		wv_timer_arm(p->timer, now_us + (busy ? TICK_US : QUIET_US));
}

int wv_pairs_tick(sd_event_source *timer, uint64_t unused, void *data)
{
	struct wv_pairs *p = data;
	struct wv_pair *pair, *next;

	(void)timer;
	(void)unused;
	for (pair = LIST_FIRST(&p->all); pair; pair = next) {
		next = LIST_NEXT(pair, link);
		review(p, pair);
	}
	make_pairs(p);
	look_again(p);
	return 0;
}

void wv_pairs_wake(struct wv_pairs *p)
{
	wv_timer_hasten(p->timer, wv_now(p->event) + TICK_US);
}
