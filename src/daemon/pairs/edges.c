/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/edges.h"

#include "base/backoff.h"
#include "base/base.h"

#include <rdma/ib_user_verbs.h>
#include <string.h>

#define US		 1000000
#define FIRST_PAUSE_US	 100000
#define LONGEST_PAUSE_US (60 * US)

void wv_edges_init(struct wv_edges *e)
{
	TAILQ_INIT(&e->all);
	e->n = 0;
}

static void drop(struct wv_edges *e, struct wv_edge *edge)
{
	TAILQ_REMOVE(&e->all, edge, link);
	e->n--;
	free(edge);
}

void wv_edges_finish(struct wv_edges *e)
{
	while (!TAILQ_EMPTY(&e->all))
		drop(e, TAILQ_FIRST(&e->all));
}

/* Clears what differs between two connections that are made in the same way. */
static void clear_numbers(struct wv_cmdlog *moves)
{
	wv_each_step (moves, step) {
		const struct wv_attr *in = wv_step_attr(step, UVERBS_ATTR_CORE_IN);
		struct ib_uverbs_modify_qp *modify = (void *)wv_attr_bytes(step, in);

		step->target = WV_NONE;
		modify->qp_handle = modify->dest_qp_num = 0;
		modify->rq_psn = modify->sq_psn = 0;
		memset(modify->dest.dgid, 0, sizeof(modify->dest.dgid));
		modify->dest.flow_label = 0;
	}
}

static struct wv_edge *find(struct wv_edges *e, const struct wv_edge_report *r)
{
	struct wv_edge *edge;

	TAILQ_FOREACH (edge, &e->all, link) {
		const struct wv_edge_report *last = &edge->last;

		if (last->uid == r->uid && last->recipe == r->recipe && last->create == r->create)
			return edge;
	}
	return NULL;
}

static unsigned int edges_of(const struct wv_edges *e, uid_t uid)
{
	const struct wv_edge *edge;
	unsigned int n = 0;

	TAILQ_FOREACH (edge, &e->all, link)
		n += edge->last.uid == uid;
	return n;
}

/*
 * The oldest without pairs of the user that has most edges, who might have said much to get them.
 */
static struct wv_edge *gives_way(struct wv_edges *e)
{
	struct wv_edge *edge, *found = NULL;
	unsigned int n, most = 0;

	TAILQ_FOREACH_REVERSE(edge, &e->all, wv_edge_list, link)
	{
		n = edge->n_pairs ? 0 : edges_of(e, edge->last.uid);
		if (n > most) {
			found = edge;
			most = n;
		}
	}
	return found;
}

static struct wv_edge *add(struct wv_edges *e)
{
	struct wv_edge *edge;

	if (e->n == WV_EDGES_MOST) {
		edge = gives_way(e);
		if (!edge)
			return NULL;
		drop(e, edge);
	}
	edge = calloc(1, sizeof(*edge));
	if (!edge)
		return NULL;
	TAILQ_INSERT_HEAD(&e->all, edge, link);
	e->n++;
	return edge;
}

static bool is_same_way(const struct wv_edge *edge, const struct wv_edge_report *r,
			const struct wv_cmdlog *moves)
{
	const struct wv_edge_report *last = &edge->last;

	return last->peer == r->peer && !memcmp(last->gid, r->gid, sizeof(r->gid)) &&
	       !memcmp(last->peer_gid, r->peer_gid, sizeof(r->peer_gid)) &&
	       !memcmp(edge->moves, moves, moves->bytes);
}

struct wv_edge *wv_edges_note(struct wv_edges *e, const struct wv_edge_report *r,
			      struct wv_cmdlog *moves, int64_t now_us)
{
	struct wv_edge *edge = find(e, r);

	clear_numbers(moves);
	if (!edge)
		edge = add(e);
	if (!edge)
		return NULL;
	if (!is_same_way(edge, r, moves)) {
		edge->agreed = 0;
		/* Those that no program has are of another kind; let them go first. */
		if (edge->n_pairs > edge->n_claimed)
			return NULL;
		memcpy(edge->moves, moves, moves->bytes);
	}
	edge->last = *r;
	edge->used_us = now_us;
	TAILQ_REMOVE(&e->all, edge, link);
	TAILQ_INSERT_HEAD(&e->all, edge, link);
	return edge;
}

static bool is_about(const struct wv_edge_report *last, const struct wv_peer *from,
		     const struct wv_pair_note *note)
{
	return last->peer == from && last->qp_num == note->qp_num &&
	       last->peer_qp_num == note->peer_qp_num && last->peer_qp_num;
}

void wv_edges_answer(struct wv_edges *e, struct wv_peer *from, const struct wv_pair_note *note)
{
	struct wv_edge *edge;

	TAILQ_FOREACH (edge, &e->all, link)
		if (is_about(&edge->last, from, note))
			break;
	if (!edge || memcmp(edge->last.gid, note->gid, sizeof(note->gid)) != 0)
		return;
	edge->last.qp_num = edge->last.peer_qp_num = 0; /* one answer for each question */
	if (edge->keeper != note->keeper || edge->shape != note->shape)
		edge->agreed = 0;
	edge->keeper = note->keeper;
	edge->shape = note->shape;
	edge->by_request = note->by_request;
	if (edge->agreed < WV_EDGE_AGREE)
		edge->agreed++;
}

bool wv_edge_is_in_use(const struct wv_edge *edge, int64_t now_us)
{
	return edge->agreed == WV_EDGE_AGREE &&
	       now_us - edge->used_us < (int64_t)WV_EDGE_IDLE_S * US;
}

void wv_edge_fail(struct wv_edge *edge, int64_t now_us)
{
	if (now_us < edge->pause_until_us)
		return; /* pairs that were asked for together fail together */
	edge->pause_until_us =
	    now_us + (int64_t)wv_backoff(FIRST_PAUSE_US, LONGEST_PAUSE_US, ++edge->failures);
}

bool wv_edges_see(struct wv_edges *e, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS])
{
	static const uint8_t never[WV_LINK_ADDRESS];
	struct wv_edge *edge;
	bool moved = false;

	TAILQ_FOREACH (edge, &e->all, link) {
		if (memcmp(edge->last.peer_gid, gid, sizeof(edge->last.peer_gid)) != 0)
			continue;
		moved = moved || (memcmp(edge->link_address, never, sizeof(never)) != 0 &&
				  memcmp(edge->link_address, at, WV_LINK_ADDRESS) != 0);
		memcpy(edge->link_address, at, WV_LINK_ADDRESS);
	}
	return moved;
}
