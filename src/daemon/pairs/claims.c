/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/claims.h"

#include "base/base.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pair_table.h"

/* A server that creates its queue pairs before it knows the client tells no two clients apart. */
static bool may_claim(const struct wv_edge *edge)
{
	return edge->by_request || !edge->n_claimed;
}

struct wv_pooled_lease *wv_pairs_claim(struct wv_pairs *p, const struct wv_recipe *recipe,
				       dev_t rdev)
{
	struct wv_pair *pair;
	struct wv_pooled_lease *lease;

	if (!p)
		return NULL;
	LIST_FOREACH (pair, &p->all, link)
		if (pair->state == WV_PAIR_READY && wv_edge_is_of(pair->edge, recipe) &&
		    may_claim(pair->edge) && pair->lease->rdev == rdev)
			break;
	if (!pair || !wv_pair_keep_number(pair))
		return NULL;
	/* The server's daemon knows before any program does. */
	wv_pair_say(p, pair, WV_PAIR_CLAIMED, WV_PAIR_NO_REASON);
	lease = pair->lease;
	pair->lease = NULL;
	return lease;
}

void wv_pairs_handed_out(struct wv_pairs *p, const struct wv_pooled_lease *lease,
			 struct wv_pair_holder *holder)
{
	struct wv_pair *pair = wv_pair_find(p, lease->pair.pair);

	if (!pair)
		return;
	pair->holder = holder;
	pair->edge->n_claimed++;
	holder->pair = pair;
	wv_pair_enter(p, pair, WV_PAIR_HANDED_OUT);
	wv_pairs_wake(p);
}

void wv_pairs_return(struct wv_pairs *p, struct wv_pooled_lease *lease)
{
	struct wv_pair *pair = wv_pair_find(p, lease->pair.pair);

	if (!pair) {
		wv_builders_close(p->builders, lease);
		return;
	}
	pair->lease = lease;
	wv_pair_drop(p, pair, WV_PAIR_IDLE);
}

/* The program does not use @pair, or not any more: its end is of no use. */
static void leave(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_why why)
{
	wv_pair_say(p, pair, WV_PAIR_DROP, why);
	pair->holder->pair = NULL;
	pair->holder = NULL;
	wv_pair_enter(p, pair, WV_PAIR_LEFT);
	wv_pairs_wake(p);
}

void wv_pairs_leave(struct wv_pairs *p, struct wv_pair_holder *holder)
{
	if (holder->pair)
		leave(p, holder->pair, WV_PAIR_ENDED);
}

void wv_pairs_differ(struct wv_pairs *p, struct wv_pair_holder *holder, uint32_t create,
		     enum wv_pair_why why)
{
	if (!holder->pair || holder->pair->edge->create != create)
		return;
	p->tally.unlike[why]++;
	wv_pair_count(holder->pair->edge->peer, why);
	wv_edge_differ(holder->pair->edge);
	leave(p, holder->pair, why);
}
