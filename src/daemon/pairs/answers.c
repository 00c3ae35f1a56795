/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/answers.h"

#include "abi/qp.h"
#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/pair_table.h"

#include <errno.h>

/*
 * Connects the queue pair of a pooled lease, in a thread: each move takes an adapter's firmware 0.1
 * to 20 ms, and the loop must not wait for that.
 */
struct job {
	struct wv_work work;
	struct wv_pairs *pairs;
	struct wv_pooled_lease *lease; /* its `pair` says to what it is connected */
	wv_issue_fn issue;
	uint32_t flow_label; /* as of the edge, as the moves: */
	_Alignas(8) uint8_t moves[WV_MOVES_MAX_BYTES];
	int err; /* 0; or -errno, and then the lease is of no use any more */
};

/* Room for the two moves in the command log of a lease. */
static int grow(struct wv_pooled_lease *lease)
{
	void *larger = realloc(lease->cmdlog, lease->cmdlog->bytes + WV_MOVES_MAX_BYTES);

	if (!larger)
		return -ENOMEM;
	lease->cmdlog = larger;
	return 0;
}

/* Runs in the thread. */
static void run(struct wv_work *work)
{
	struct job *job = (struct job *)work;
	struct wv_pooled_lease *lease = job->lease;
	const struct wv_lease_pair *pair = &lease->pair;
	struct wv_qp_peer peer = wv_pair_peer(pair);
	size_t capacity = lease->cmdlog->bytes + WV_MOVES_MAX_BYTES;

	peer.flow_label = job->flow_label;
	job->err = grow(lease)
		       ?: wv_replay_moves(lease->cmdlog, capacity, pair->create,
					  (struct wv_cmdlog *)job->moves, &peer, job->issue,
					  &lease->fds.all[0]);
}

static void on_done(struct wv_work *work)
{
	struct job *job = (struct job *)work;
	struct wv_pairs *p = job->pairs;
	struct wv_pair *pair = wv_pair_find(p, job->lease->pair.pair);

	pair->lease = job->lease;
	if (pair->state == WV_PAIR_CANCELLED) {
		wv_pair_forget(p, pair);
	} else if (job->err) {
		wv_log(WV_DEBUG, "a pair could not be connected: %s", strerror(-job->err));
		wv_edge_fail(pair->edge, wv_now(p->event));
		wv_pair_enter(p, pair, WV_PAIR_READY);
		wv_pair_drop(p, pair, WV_PAIR_KERNEL);
	} else {
		p->tally.made++;
		pair->edge->failures = 0;
		wv_pair_enter(p, pair, WV_PAIR_READY);
	}
	free(job);
}

/* The server of @pair has made its end, the queue pair @qp_num: connects the lease to it. */
static void connect_lease(struct wv_pairs *p, struct wv_pair *pair, uint32_t qp_num)
{
	struct job *job = malloc(sizeof(*job));

	if (!job) {
		wv_pair_drop(p, pair, WV_PAIR_IDLE);
		return;
	}
	pair->lease->pair.peer_qp_num = qp_num;
	memcpy(pair->lease->pair.peer_gid, pair->peer_gid, sizeof(pair->peer_gid));
	*job = (struct job){
	    .work = {.run = run, .done = on_done},
	    .pairs = p,
	    .lease = pair->lease,
	    .issue = p->issue,
	    .flow_label = pair->edge->last.flow_label,
	    .err = -ECANCELED, /* unless it runs */
	};
	memcpy(job->moves, pair->edge->moves, sizeof(job->moves));
	pair->lease = NULL;
	wv_pair_enter(p, pair, WV_PAIR_CONNECTING);
	wv_line_give(p->line, &job->work);
}

static void take_made(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	if (!memcmp(pair->peer_gid, note->gid, sizeof(note->gid))) {
		connect_lease(p, pair, note->qp_num);
		return;
	}
	/* The server has another address now. */
	wv_edge_differ(pair->edge);
	wv_pair_drop(p, pair, WV_PAIR_MOVED);
}

static void take_refused(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_why why)
{
	p->tally.refused[why]++;
	if (why == WV_PAIR_UNKNOWN)
		wv_edge_differ(pair->edge);
	else
		wv_edge_fail(pair->edge, wv_now(p->event));
	wv_pair_put_into_pool(p, pair);
}

static void take_used(struct wv_pairs *p, struct wv_pair *pair)
{
	if (pair->is_used)
		return;
	if (!pair->is_unlike) {
		p->tally.used++;
		wv_pair_count(pair->peer, WV_PAIR_NO_REASON);
	}
	pair->edge->used_us = wv_now(p->event);
	pair->edge->n_awaited--;
	pair->is_used = true;
}

int wv_pair_tell_gone(const struct wv_pair *pair)
{
	struct wv_msg_pair_gone msg = {.pair = pair->id};

	wv_msg_init(&msg.msg, WV_MSG_PAIR_GONE, sizeof(msg));
	return wv_send(pair->sock, &msg, sizeof(msg), NULL, 0, NULL, 0);
}

static void take_lost(struct wv_pairs *p, struct wv_pair *pair)
{
	p->tally.lost++;
	/* The server keeps its end until the program ends: its number must not be used again. */
	if (pair->state == WV_PAIR_HANDED_OUT && wv_pair_tell_gone(pair))
		return;
	wv_pair_say(p, pair, WV_PAIR_FORGOTTEN, WV_PAIR_NO_REASON);
	if (pair->state == WV_PAIR_CONNECTING || pair->state == WV_PAIR_CANCELLED)
		wv_pair_enter(p, pair, WV_PAIR_CANCELLED);
	else
		wv_pair_forget(p, pair);
}

/* The server's daemon did not hear what became of @pair. */
static void take_still(struct wv_pairs *p, struct wv_pair *pair)
{
	bool has_program = pair->state == WV_PAIR_HANDED_OUT;

	wv_pair_say(p, pair, has_program ? WV_PAIR_CLAIMED : WV_PAIR_FORGOTTEN, WV_PAIR_NO_REASON);
	if (pair->state == WV_PAIR_LEFT)
		wv_pair_forget(p, pair);
}

static void take(struct wv_pairs *p, struct wv_pair *pair, const struct wv_pair_note *note)
{
	switch (note->word) {
	case WV_PAIR_MADE:
		if (pair->state == WV_PAIR_ASKED)
			take_made(p, pair, note);
		break;
	case WV_PAIR_REFUSED:
		if (pair->state == WV_PAIR_ASKED)
			take_refused(p, pair, note->why);
		break;
	case WV_PAIR_USED: /* a server cannot have met a queue pair that no program has */
		if (wv_pair_is_claimed(pair))
			take_used(p, pair);
		break;
	case WV_PAIR_DROPPED:
		if (pair->state == WV_PAIR_LEFT)
			wv_pair_forget(p, pair);
		break;
	case WV_PAIR_LOST:
		take_lost(p, pair);
		break;
	case WV_PAIR_STILL:
		take_still(p, pair);
		break;
	default:
		break;
	}
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
	wv_pair_send(p, from, reply);
}

void wv_pairs_note(struct wv_pairs *p, struct wv_peer *from, const struct wv_pair_note *note)
{
	struct wv_pair *pair = wv_pair_find(p, note->pair);

	if (pair && wv_pair_link_is(p, from, pair->peer, pair->peer_gid)) {
		pair->peer = from;
		take(p, pair, note);
	} else if (note->pair >> 32 == p->number) {
		/* Those of a daemon before may have programs of which this one knows nothing. */
		answer_unknown(p, from, note);
	}
}
