/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/claims.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/answers.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pair_table.h"

#include <rdma/ib_user_verbs.h>

/* Programs in a row that are asked in vain, and which share of the others is. */
#define PATIENCE 16
#define RARELY	 8

/* A server that creates its queue pairs before it knows the client tells no two clients apart. */
static bool may_claim(const struct wv_edge *edge)
{
	return edge->by_request || !edge->n_awaited;
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

static void on_ended(struct wv_end_watch *end)
{
	struct wv_pair *pair = WV_OWNER(end, struct wv_pair, end);

	wv_pairs_leave(end->arg, pair);
}

void wv_pairs_handed_out(struct wv_pairs *p, const struct wv_pooled_lease *lease, int sock,
			 struct wv_pair **held)
{
	struct wv_pair *pair = wv_pair_find(p, lease->pair.pair);

	if (!pair)
		return;
	pair->sock = sock;
	pair->end = (struct wv_end_watch){.ended = on_ended, .arg = p};
	pair->held = held;
	pair->edge->n_claimed++;
	pair->edge->n_awaited++;
	*held = pair;
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

void wv_pairs_disconnect(struct wv_pair *pair)
{
	if (pair->held)
		*pair->held = NULL;
	pair->held = NULL;
	pair->sock = -1;
}

/* The program does not use @pair, or not any more: its end is of no use. */
static void leave(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_why why)
{
	wv_pair_say(p, pair, WV_PAIR_DROP, why);
	wv_pairs_disconnect(pair);
	if (pair->peer == WV_LOST_PEER)
		wv_pair_forget(p, pair);
	else
		wv_pair_enter(p, pair, WV_PAIR_LEFT);
	wv_pairs_wake(p);
}

void wv_pairs_leave(struct wv_pairs *p, struct wv_pair *pair)
{
	wv_pair_tell_gone(pair);
	leave(p, pair, WV_PAIR_ENDED);
}

void wv_pairs_differ(struct wv_pairs *p, struct wv_pair *pair, uint32_t create,
		     enum wv_pair_why why)
{
	if (!pair || pair->edge->last.create != create)
		return;
	/* It is destroyed, and nothing is left that keeps its number. */
	if (why == WV_PAIR_NO_REASON || why == WV_PAIR_ENDED)
		wv_pair_let_number_go(p, pair);
	if (why == WV_PAIR_NO_REASON || (pair->is_used && why == WV_PAIR_ENDED)) {
		leave(p, pair, WV_PAIR_ENDED);
		return;
	}
	p->tally.unlike[why]++;
	wv_pair_count(pair->peer, why);
	wv_edge_differ(pair->edge);
	/* It may be connected all the same, or be so later; by the numbers of the pair. */
	if (why == WV_PAIR_ENDED)
		leave(p, pair, why);
	else
		pair->is_unlike = true;
}

static bool has_edges(const struct wv_pairs *p, const struct wv_recipe *recipe)
{
	const struct wv_edge *edge;
	uint32_t n = 0;

	TAILQ_FOREACH (edge, &p->edges.all, link)
		n += wv_edge_is_of(edge, recipe) && wv_edge_is_in_use(edge, wv_now(p->event));
	return n >= recipe->cost.qps || n == WV_PAIR_TOLD;
}

/* A program with a pair says why it does not use it. */
bool wv_pairs_wants_report(const struct wv_pairs *p, struct wv_recipe *recipe,
			   const struct wv_pooled_lease *lease)
{
	if (!p || lease->pair.pair)
		return p;
	if (has_edges(p, recipe)) {
		recipe->asked = 0;
		return false;
	}
	return ++recipe->asked <= PATIENCE || recipe->asked % RARELY == 0;
}

/* The CORE_IN of the first move, the one to RTR. */
static const struct ib_uverbs_modify_qp *move_to_rtr(struct wv_cmdlog *moves)
{
	struct wv_step *step = wv_cmdlog_first(moves);

	return (const void *)wv_attr_bytes(step, wv_step_attr(step, UVERBS_ATTR_CORE_IN));
}

/* Fills in whom the program has connected to. False: it has no address that a node could have. */
static bool read_peer(struct wv_pairs *p, const char *ibdev, struct wv_cmdlog *moves,
		      struct wv_edge_report *r)
{
	const struct ib_uverbs_modify_qp *rtr = move_to_rtr(moves);

	r->peer_qp_num = rtr->dest_qp_num;
	r->flow_label = rtr->dest.flow_label;
	memcpy(r->peer_gid, rtr->dest.dgid, sizeof(r->peer_gid));
	return rtr->dest.is_global && !wv_gid_find(&p->gids, ibdev, rtr->dest.port_num,
						   rtr->dest.sgid_index, wv_now(p->event), r->gid);
}

static void ask_about(struct wv_pairs *p, const struct wv_edge *edge)
{
	wv_pair_ask(p, edge,
		    (struct wv_pair_note){
			.word = WV_PAIR_EDGE,
			.qp_num = edge->last.qp_num,
			.peer_qp_num = edge->last.peer_qp_num,
		    });
}

void wv_pairs_report(struct wv_pairs *p, const char *ibdev, struct wv_edge_report *report,
		     struct wv_cmdlog *moves)
{
	const struct wv_edge *edge;

	if (!read_peer(p, ibdev, moves, report) ||
	    !wv_pair_link_find(p, report->gid, report->peer_gid, &report->peer))
		return;
	edge = wv_edges_note(&p->edges, report, moves, wv_now(p->event));
	if (edge)
		ask_about(p, edge);
}
