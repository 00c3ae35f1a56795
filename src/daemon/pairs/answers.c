/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/answers.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pair_table.h"

#include <string.h>

/* Called by the connector. */
static void on_connected(void *arg, struct wv_connect_job *job)
{
	struct wv_pairs *p = arg;
	struct wv_pair *pair = wv_pair_find(p, job->lease->pair.pair);

	pair->lease = job->lease;
	if (pair->state == WV_PAIR_CANCELLED) {
		wv_pair_forget(p, pair);
	} else if (job->err) {
		wv_log(WV_DEBUG, "a pair could not be connected: %s", strerror(-job->err));
		wv_edge_fail(pair->edge, wv_pairs_now(p));
		wv_pair_enter(p, pair, WV_PAIR_READY);
		wv_pair_drop(p, pair, WV_PAIR_KERNEL);
	} else {
		p->tally.made++;
		pair->edge->failures = 0;
		wv_pair_enter(p, pair, WV_PAIR_READY);
	}
	free(job);
}

static void start_connecting(struct wv_pairs *p, struct wv_pair *pair,
			     const struct wv_pair_note *note)
{
	struct wv_connect_job *job = calloc(1, sizeof(*job));

	if (!job) {
		wv_pair_drop(p, pair, WV_PAIR_IDLE);
		return;
	}
	pair->lease->pair.peer_qp_num = note->qp_num;
	memcpy(pair->lease->pair.peer_gid, pair->edge->peer_gid, sizeof(note->gid));
	job->lease = pair->lease;
	job->issue = p->issue;
	job->flow_label = pair->edge->flow_label;
	job->done = on_connected;
	job->arg = p;
	memcpy(job->moves, pair->edge->moves, sizeof(job->moves));
	pair->lease = NULL;
	wv_pair_enter(p, pair, WV_PAIR_CONNECTING);
	wv_connect_lease(p->line, job);
}

/* Whether the server's end has the address that the edge leads to. */
static bool is_at_peer(const struct wv_pair *pair, const struct wv_pair_note *note)
{
	return !memcmp(pair->edge->peer_gid, note->gid, sizeof(note->gid));
}

/* The server has another address now. */
static void give_up(struct wv_pairs *p, struct wv_pair *pair)
{
	wv_edge_differ(pair->edge);
	wv_pair_drop(p, pair, WV_PAIR_MOVED);
}

static void take_made(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	if (pair->state != WV_PAIR_ASKED)
		return;
	if (is_at_peer(pair, note))
		start_connecting(p, pair, note);
	else
		give_up(p, pair);
}

static void take_refused(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	if (pair->state != WV_PAIR_ASKED)
		return;
	p->tally.refused[note->why]++;
	if (note->why == WV_PAIR_UNKNOWN)
		wv_edge_differ(pair->edge);
	else
		wv_edge_fail(pair->edge, wv_pairs_now(p));
	wv_pair_put_into_pool(p, pair);
}

static void take_lost(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	(void)note;
	p->tally.lost++;
	/* The server keeps its end until the program ends: its number must not be used again. */
	if (pair->state == WV_PAIR_HANDED_OUT && !p->tell_gone(pair->holder, pair->id))
		return;
	wv_pair_say(p, pair, WV_PAIR_FORGOTTEN, WV_PAIR_NO_REASON);
	if (pair->state == WV_PAIR_CONNECTING || pair->state == WV_PAIR_CANCELLED)
		wv_pair_enter(p, pair, WV_PAIR_CANCELLED);
	else
		wv_pair_forget(p, pair);
}

/* No program has @pair any more, and the server's daemon did not hear of that. */
static void leave_lost(struct wv_pairs *p, struct wv_pair *pair)
{
	wv_pair_say(p, pair, WV_PAIR_FORGOTTEN, WV_PAIR_NO_REASON);
	if (pair->state == WV_PAIR_LEFT)
		wv_pair_forget(p, pair);
}

/* The server has a pair that this daemon has dropped, or that one before it had. */
static void answer_unknown(struct wv_pairs *p, struct wv_peer *from,
			   const struct wv_pair_note *note)
{
	struct wv_pair_note reply = *note;

	if (note->word == WV_PAIR_MADE)
		reply.word = WV_PAIR_DROP;
	else if (note->word == WV_PAIR_LOST || note->word == WV_PAIR_STILL)
		reply.word = WV_PAIR_FORGOTTEN;
	else
		return;
	wv_pair_send(p->links, from, &reply);
}

/* Pairs of a daemon before this one may have programs of which this one knows nothing. */
static bool is_of_this_daemon(const struct wv_pairs *p, uint64_t id)
{
	return id >> 32 == p->number;
}

static bool is_from_server(const struct wv_pairs *p, const struct wv_pair *pair,
			   const struct wv_peer *from)
{
	const struct wv_edge *edge = pair->edge;

	return edge->peer == from ||
	       (edge->peer == WV_LOST_PEER && wv_pair_link_is_at(p->links, from, edge->peer_gid));
}

/* A server cannot have met a queue pair that no program has. */
static void take_used(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	(void)note;
	if (!wv_pair_is_claimed(pair))
		return;
	if (!pair->is_unlike) {
		p->tally.used++;
		wv_pair_count(pair->edge->peer, WV_PAIR_NO_REASON);
	}
	pair->edge->used_us = wv_pairs_now(p);
	wv_pair_forget(p, pair);
}

static void take_dropped(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	(void)note;
	if (pair->state == WV_PAIR_LEFT)
		wv_pair_forget(p, pair);
}

static void take_still(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	(void)note;
	if (pair->state == WV_PAIR_HANDED_OUT)
		wv_pair_say(p, pair, WV_PAIR_CLAIMED, WV_PAIR_NO_REASON);
	else
		leave_lost(p, pair);
}

void wv_pairs_note(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note)
{
	static void (*const take[WV_PAIR_WORDS])(struct wv_pairs * p, struct wv_pair * pair,
						 const struct wv_pair_note *note) = {
	    [WV_PAIR_MADE] = take_made,	      [WV_PAIR_REFUSED] = take_refused,
	    [WV_PAIR_USED] = take_used,	      [WV_PAIR_LOST] = take_lost,
	    [WV_PAIR_DROPPED] = take_dropped, [WV_PAIR_STILL] = take_still,
	};
	struct wv_pair *pair = wv_pair_find(p, note->pair);

	if (note->word == WV_PAIR_EDGE) {
		wv_edges_answer(&p->edges, from, note);
		wv_pairs_wake(p);
	} else if (note->word >= WV_PAIR_WORDS || !take[note->word]) {
		return;
	} else if (pair && is_from_server(p, pair, from)) {
		pair->edge->peer = from;
		take[note->word](p, pair, note);
	} else if (is_of_this_daemon(p, note->pair)) {
		answer_unknown(p, from, note);
	}
}
