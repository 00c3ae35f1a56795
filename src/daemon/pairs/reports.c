/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/reports.h"

#include "base/base.h"
#include "daemon/pairs/pair_table.h"

#include <rdma/ib_user_verbs.h>
#include <string.h>

/* Programs in a row that are asked in vain, and which share of the others is. */
#define PATIENCE 16
#define RARELY	 8

static bool has_edges(const struct wv_pairs *p, const struct wv_recipe *recipe)
{
	const struct wv_edge *edge;
	uint32_t n = 0;

	TAILQ_FOREACH (edge, &p->edges.all, link)
		n += wv_edge_is_of(edge, recipe) && wv_edge_is_in_use(edge, wv_pairs_now(p));
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
static bool read_peer(struct wv_pairs *p, const char *ibdev, struct wv_edge_report *r)
{
	const struct ib_uverbs_modify_qp *rtr = move_to_rtr(r->moves);

	r->peer_qp_num = rtr->dest_qp_num;
	r->flow_label = rtr->dest.flow_label;
	memcpy(r->peer_gid, rtr->dest.dgid, sizeof(r->peer_gid));
	return rtr->dest.is_global && !wv_gid_find(&p->gids, ibdev, rtr->dest.port_num,
						   rtr->dest.sgid_index, wv_pairs_now(p), r->gid);
}

static void ask_about(struct wv_pairs *p, const struct wv_edge *edge)
{
	wv_pair_ask(p, edge,
		    (struct wv_pair_note){
			.word = WV_PAIR_EDGE,
			.qp_num = edge->qp_num,
			.peer_qp_num = edge->peer_qp_num,
		    });
}

void wv_pairs_report(struct wv_pairs *p, const char *ibdev, struct wv_edge_report *report)
{
	const struct wv_edge *edge;

	if (!read_peer(p, ibdev, report) ||
	    !wv_pair_link_find(p->links, report->gid, report->peer_gid, &report->peer))
		return;
	edge = wv_edges_note(&p->edges, report, wv_pairs_now(p));
	if (edge)
		ask_about(p, edge);
}
