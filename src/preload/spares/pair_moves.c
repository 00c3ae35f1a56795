/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/pair_moves.h"

#include "abi/qp.h"
#include "cmdlog/difference.h"
#include "preload/core/counters.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/core/trace.h"
#include "preload/spares/aside_qp.h"
#include "preload/spares/keeper_sock.h"
#include "preload/spares/kept_pairs.h"
#include "preload/spares/locks.h"
#include "preload/spares/maker.h"
#include "preload/spares/pair_end.h"
#include "preload/spares/pair_put_back.h"

#include <string.h>

bool wv_pair_take(const struct wv_qp_key *key, const struct wv_request *request,
		  struct wv_spare *spare)
{
	struct wv_pair_end *end = wv_pair_end_named(key, request);

	if (!end)
		return false;
	end->state = WV_END_TAKEN;
	*spare = end->spare;
	return true;
}

/*
 * An end in the state TAKEN is freed by the program's own verbs only. What they write to it is
 * guarded by the lock of the pairs; the keeper writes to `gone` and the note.
 */
static struct wv_pair_end *look_up(const struct ibv_qp *qp, enum wv_end_state state)
{
	struct wv_pair_end *end;

	wv_stock_lock();
	end = wv_pair_end_of(qp);
	if (end && end->state != state)
		end = NULL;
	wv_stock_unlock();
	return end;
}

bool wv_pair_owns(const struct ibv_qp *qp)
{
	bool owns;

	if (__builtin_expect(!wv_pair_end_any(), 1))
		return false;
	wv_stock_lock();
	owns = wv_pair_end_of(qp);
	wv_stock_unlock();
	return owns;
}

/* Says so, unless nobody is to ask any more. Call with the lock of the stock held. */
static void say(const struct wv_pair_end *end, enum wv_pair_word word, enum wv_pair_why why)
{
	const struct wv_pair_note note = wv_pair_note_as(&end->note, word, why);

	if (!end->gone && end->note.pair)
		wv_keeper_say(&note);
}

/* What was noted is to be said soon. */
static void tell(void)
{
	bool any;

	wv_stock_lock();
	any = wv_kept_pairs_has_news();
	wv_stock_unlock();
	if (any)
		wv_maker_wake();
}

static bool names(const struct wv_pair_end *end, const struct ibv_qp_attr *attr, int mask)
{
	return !end->gone && mask & IBV_QP_AV && mask & IBV_QP_DEST_QPN &&
	       attr->ah_attr.is_global && attr->dest_qp_num == end->note.peer_qp_num &&
	       !memcmp(&attr->ah_attr.grh.dgid, end->note.peer_gid, sizeof(end->note.peer_gid));
}

/* It is decided once: if the partner goes from now on, it is as a peer that goes. */
static bool is_for_partner(const struct wv_pair_end *end, const struct ibv_qp_attr *attr, int mask)
{
	bool is;

	wv_stock_lock();
	is = names(end, attr, mask);
	wv_stock_unlock();
	return is;
}

/* The program has connected it to somebody else. */
static void part(struct wv_pair_end *end)
{
	wv_stock_lock();
	say(end, WV_PAIR_DROP, WV_PAIR_OTHER_PEER);
	end->state = WV_END_PARTED;
	if (end->gone && end->note.pair)
		wv_pair_end_free(end);
	wv_stock_unlock();
}

/* The program's own move, since the pair does not do, for the reason @why. */
static int move_because(struct wv_pair_end *end, struct ibv_qp_attr *attr, int mask,
			enum wv_why why)
{
	int error;

	wv_scope.why = (uint16_t)why;
	error = wv_real_verbs()->modify_qp(end->spare.qp, attr, mask);
	wv_scope.why = 0;
	return error;
}

static int connect_elsewhere(struct wv_pair_end *end, struct ibv_qp_attr *attr, int mask)
{
	enum wv_why why = end->gone ? WV_WHY_PEER_GONE : WV_WHY_OTHER_PEER;
	int error;

	if (end->ahead)
		wv_pair_put_back(end);
	error = move_because(end, attr, mask, why);
	if (!error)
		part(end);
	return error;
}

/* Answers the move without a command: the queue pair is in RTS. */
static int answer(struct wv_pair_end *end, enum ibv_qp_state state, uint64_t start)
{
	end->spare.qp->state = state;
	wv_trace_ahead(start, WV_HOW_PAIR, (uint16_t)state);
	return 0;
}

static bool is_rtr_as_made(const struct wv_pair_end *end, const struct ibv_qp_attr *attr, int mask)
{
	struct wv_connection asked;

	return end->n == end->moves.n && wv_connection_set(&asked, attr, mask) &&
	       wv_connect_steps_agree(&asked.rtr, &end->made.rtr);
}

static int to_rtr(struct wv_pair_end *end, struct ibv_qp_attr *attr, int mask, uint64_t start)
{
	struct ibv_qp_attr with_psn = *attr;
	int error;

	if (!is_for_partner(end, attr, mask))
		return connect_elsewhere(end, attr, mask);
	if (end->ahead && (is_rtr_as_made(end, attr, mask) || !wv_pair_try_put_back(end))) {
		end->can_receive = true;
		return answer(end, IBV_QPS_RTR, start);
	}
	with_psn.rq_psn = end->made.peer.rq_psn;
	error = move_because(end, &with_psn, mask, WV_WHY_OTHER_MOVES);
	end->can_receive = !error;
	return error;
}

/* What the program asks for with RTS differs: it gets RTR again, and then that. */
static bool is_rts_as_made(struct wv_pair_end *end, const struct ibv_qp_attr *attr, int mask)
{
	struct wv_connection asked;
	struct ibv_qp_attr rtr;
	int rtr_mask;

	if ((wv_connection_set(&asked, attr, mask) &&
	     wv_connect_steps_agree(&asked.rts, &end->made.rts)) ||
	    !wv_pair_try_put_back(end))
		return true;
	rtr_mask = wv_connection_get(&end->made, IBV_QPS_RTR, &rtr);
	wv_aside_modify_qp(end->spare.qp, &rtr, rtr_mask);
	return false;
}

/* The pair has become a connection of the program. */
static void finish(struct wv_pair_end *end)
{
	uint64_t number;

	wv_stock_lock();
	say(end, WV_PAIR_USED, WV_PAIR_NO_REASON);
	number = end->ahead ? wv_stock_connected(&end->key, &end->made)
			    : wv_stock_connected(&end->key, NULL);
	wv_count(&wv_counters.pairs_used);
	if (number)
		wv_kept_pairs_note_connected(number, end->spare.qp, &end->made);
	wv_pair_end_free(end);
	wv_stock_unlock();
}

static int to_rts(struct wv_pair_end *end, struct ibv_qp_attr *attr, int mask, uint64_t start)
{
	struct ibv_qp_attr with_psn = *attr;
	int error;

	if (end->ahead && is_rts_as_made(end, attr, mask)) {
		answer(end, IBV_QPS_RTS, start);
		finish(end);
		return 0;
	}
	with_psn.sq_psn = end->made.peer.sq_psn;
	error = move_because(end, &with_psn, mask, WV_WHY_OTHER_MOVES);
	if (!error)
		finish(end);
	return error;
}

/* Claims a move to INIT that was made ahead. */
static bool claim(struct wv_pair_end *end, const struct ibv_qp_attr *attr, int mask, uint64_t start)
{
	struct wv_verb move;

	if (!end->ahead || end->n == end->moves.n || !wv_init_move_set(&move, attr, mask) ||
	    memcmp(&end->moves.all[end->n], &move, sizeof(move)) != 0)
		return false;
	end->spare.qp->state = IBV_QPS_INIT;
	wv_trace_ahead(start, WV_HOW_SPARE, IBV_QPS_INIT);
	if (++end->n < end->moves.n)
		return true;
	wv_stock_lock();
	wv_stock_agree(&end->key, &end->moves);
	wv_stock_unlock();
	return true;
}

/* A move that no pair is for. The queue pair may be connected to the partner after it. */
static int move_otherwise(struct wv_pair_end *end, struct ibv_qp_attr *attr, int mask)
{
	int error;

	if (end->ahead && !end->can_receive)
		wv_pair_put_back(end);
	error = wv_real_verbs()->modify_qp(end->spare.qp, attr, mask);
	if (!error && mask & IBV_QP_STATE)
		end->ahead = end->can_receive = end->was_reset = false;
	return error;
}

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct wv_pair_end *end = look_up(qp, WV_END_TAKEN);
	enum ibv_qp_state state = mask & IBV_QP_STATE ? attr->qp_state : IBV_QPS_UNKNOWN;
	uint64_t start = wv_trace_now();

	if (!end)
		return wv_real_verbs()->modify_qp(qp, attr, mask);
	if (claim(end, attr, mask, start))
		return 0;
	if (state == IBV_QPS_RTR && !end->can_receive)
		return to_rtr(end, attr, mask, start);
	if (state == IBV_QPS_RTS && end->can_receive)
		return to_rts(end, attr, mask, start);
	return move_otherwise(end, attr, mask);
}

int wv_pair_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int error;

	wv_pair_lock();
	error = modify(qp, attr, mask);
	wv_pair_unlock();
	tell();
	return error;
}

/* The program must not see more than it has asked for. */
static void hide(const struct wv_pair_end *end, struct ibv_qp_attr *attr, int mask)
{
	if (end->was_reset && attr->qp_state == IBV_QPS_RESET)
		wv_qp_hide(attr);
	if (!end->ahead || !(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RTS)
		return;
	attr->qp_state = attr->cur_qp_state = end->can_receive ? IBV_QPS_RTR
					      : end->n	       ? IBV_QPS_INIT
							       : IBV_QPS_RESET;
	end->spare.qp->state = attr->qp_state;
}

int wv_pair_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init)
{
	struct wv_pair_end *end;
	int error;

	wv_pair_lock();
	end = look_up(qp, WV_END_TAKEN);
	if (end && end->ahead && !end->can_receive)
		wv_pair_try_put_back(end);
	error = wv_real_verbs()->query_qp(qp, attr, mask, init);
	if (!error && end)
		hide(end, attr, mask);
	wv_pair_unlock();
	return error;
}

/* Returns whether the number of @qp means nothing to a partner, so that it may be destroyed. */
static bool leave(const struct ibv_qp *qp)
{
	struct wv_pair_end *end;
	bool is_free = true;

	wv_stock_lock();
	end = wv_pair_end_of(qp);
	if (end && end->gone && end->note.pair) {
		wv_pair_end_free(end);
	} else if (end) {
		if (end->state == WV_END_TAKEN)
			say(end, WV_PAIR_DROP, WV_PAIR_ENDED);
		end->state = end->note.pair ? WV_END_LEAVING : WV_END_LOST;
		is_free = false;
	}
	wv_stock_unlock();
	return is_free;
}

/*
 * The number must not become that of another queue pair as long as the partner may name it. So the
 * queue pair stays, in RESET: that takes its completions off the completion queue, as a destroy
 * does. It is the keeper's as soon as the maker's lock is given back.
 */
static int destroy(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	bool is_free;

	wv_making_lock();
	is_free = leave(qp);
	if (!is_free)
		wv_aside_modify_qp(qp, &attr, IBV_QP_STATE);
	wv_making_unlock();
	return is_free ? wv_real_verbs()->destroy_qp(qp) : 0;
}

int wv_pair_destroy_qp(struct ibv_qp *qp)
{
	int error;

	wv_pair_lock();
	error = destroy(qp);
	wv_pair_unlock();
	tell();
	return error;
}

static void show(struct wv_pair_end *end)
{
	struct ibv_qp_attr rtr;
	int mask = wv_connection_get(&end->made, IBV_QPS_RTR, &rtr);

	if (wv_pair_try_put_back(end) && end->can_receive)
		wv_aside_modify_qp(end->spare.qp, &rtr, mask);
}

/* The next end from the place *@i on that the program has, and that is connected; NULL: none. */
static struct wv_pair_end *next_ahead(unsigned int *i)
{
	struct wv_pair_end *end;

	wv_stock_lock();
	do
		end = wv_pair_end_at((*i)++);
	while (end && (end->state != WV_END_TAKEN || !end->ahead));
	wv_stock_unlock();
	return end;
}

void wv_pairs_before_fork(void)
{
	struct wv_pair_end *end;
	unsigned int i = 0;

	wv_pair_lock();
	while (wv_pair_end_any() && (end = next_ahead(&i)))
		show(end);
}

void wv_pairs_after_fork(void)
{
	wv_pair_unlock();
}
