/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/moves.h"

#include "abi/qp.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/core/trace.h"
#include "preload/pairs/partner.h"
#include "preload/spares/maker.h"
#include "preload/stock/aside_qp.h"
#include "preload/stock/stock.h"
#include "preload/stock/young.h"

#include <errno.h>
#include <string.h>

static bool any_young(void)
{
	return __builtin_expect(wv_young_any(), 0) && wv_process_is_adopted();
}

/*
 * NULL: the queue pair is not young. A spare that is in another state than the program's moves have
 * led to was moved by somebody who called libibverbs itself: it is an ordinary queue pair.
 */
static struct wv_young_qp *find(const struct ibv_qp *qp)
{
	struct wv_young_qp *young = wv_young_find(qp);

	if (!young || young->state != WV_YOUNG_AHEAD ||
	    qp->state == (young->n ? IBV_QPS_INIT : IBV_QPS_RESET))
		return young;
	wv_partner_note_elsewhere(young);
	return wv_young_find(qp);
}

/* Copies the young queue pair @qp. False: it is not young. */
static bool look_up(const struct ibv_qp *qp, struct wv_young_qp *copy)
{
	struct wv_young_qp *young;

	wv_stock_lock();
	young = find(qp);
	if (young)
		*copy = *young;
	wv_stock_unlock();
	return young;
}

/* All moves to INIT are made. From now on it is of interest only how it is connected. */
static void grow_up(struct wv_young_qp *y)
{
	wv_stock_agree(&y->key, &y->moves);
	if (y->key.type == IBV_QPT_RC)
		wv_young_enter(y, WV_YOUNG_GROWN);
	else
		wv_young_enter(y, WV_YOUNG_NONE);
}

/* The spare made the move already. It is an ordinary queue pair once the program has made all. */
static bool claim(const struct ibv_qp *qp, const struct wv_verb *move)
{
	struct wv_young_qp *y;
	bool claimed;

	wv_stock_lock();
	y = find(qp);
	claimed =
	    y && y->state == WV_YOUNG_AHEAD && !memcmp(&y->moves.all[y->n], move, sizeof(*move));
	if (claimed && ++y->n == y->moves.n)
		grow_up(y);
	wv_stock_unlock();
	return claimed;
}

/*
 * Repeats the last move that the program has made: to INIT again, which sets all that a later move
 * of the spare has set and keeps receives that were posted. Or to RESET, if the program has made no
 * move.
 */
static void repeat_last(const struct wv_young_qp *young)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	int mask = IBV_QP_STATE;

	if (young->n)
		mask = wv_verb_get_move(&young->moves.all[young->n - 1], &attr);
	/* Its error is ignored: the program's next verb will show it. */
	wv_real_verbs()->modify_qp(young->qp, &attr, mask);
}

/*
 * The program does something else with a spare than it did with others: from now on the queue pair
 * is as the program has moved it, and the program's moves are learned from it.
 */
static void put_back(struct wv_young_qp *young)
{
	struct wv_young_qp *y;

	repeat_last(young);
	wv_stock_lock();
	wv_stock_differ(&young->key);
	y = wv_young_find(young->qp);
	if (y) {
		wv_young_enter(y, WV_YOUNG_LEARNED);
		y->was_reset = !y->n;
		y->moves.n = y->n;
		*young = *y;
	}
	wv_stock_unlock();
}

/* The kernel has moved a queue pair that was no spare, or is none any more. */
static void note(struct wv_young_qp *y, const struct wv_young_qp *was, const struct wv_verb *move,
		 const struct ibv_qp_attr *attr, int mask)
{
	bool is_init = move && y->state == WV_YOUNG_LEARNED && y->moves.n < WV_SHAPE_MOVES;

	if (is_init) {
		y->moves.all[y->moves.n++] = *move;
		y->was_reset = false;
		return;
	}
	if (y->state == WV_YOUNG_LEARNED && attr->qp_state == IBV_QPS_RESET && y->was_reset)
		return;
	if (y->state == WV_YOUNG_LEARNED && attr->qp_state == IBV_QPS_RTR)
		grow_up(y);
	wv_partner_note_move(y, was, attr, mask);
}

/*
 * Finds out whether the program names the partner from another address than that which the partner
 * knows. If the kernel does not say it, it does not make the move either.
 */
static void look_from_where(struct wv_young_qp *y, const struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_ah_attr *way = &attr->ah_attr;
	int saved = errno;
	uint8_t gid[16];

	if (wv_partner_is_named(y, attr, mask) &&
	    !wv_aside_query_gid(y->key.context, way->port_num, way->grh.sgid_index, gid))
		y->is_elsewhere = memcmp(gid, y->partner.own_gid, sizeof(gid)) != 0;
	errno = saved;
}

/* Has the kernel make the program's move, which may be towards the other end of a pair. */
static int make_move(struct ibv_qp *qp, struct wv_young_qp *y, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_attr with_psns;
	int error;

	if (!y->partner.peer.qp_num)
		return wv_real_verbs()->modify_qp(qp, attr, mask);
	look_from_where(y, attr, mask);
	with_psns = *attr;
	wv_scope.why = wv_partner_set_psns(y, &with_psns, mask);
	error = wv_real_verbs()->modify_qp(qp, &with_psns, mask);
	wv_scope.why = 0;
	return error;
}

static int move_young(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct wv_young_qp young = {.state = WV_YOUNG_NONE}, *y;
	struct wv_verb move;
	uint64_t start = wv_trace_now();
	bool is_init = wv_init_move_set(&move, attr, mask), is_time;
	int error;

	if (is_init && claim(qp, &move)) {
		qp->state = IBV_QPS_INIT;
		wv_trace_ahead(start, WV_HOW_SPARE, IBV_QPS_INIT);
		return 0;
	}
	if (look_up(qp, &young) && young.state == WV_YOUNG_AHEAD)
		put_back(&young);
	error = make_move(qp, &young, attr, mask);
	if (error || !(mask & IBV_QP_STATE))
		return error;
	wv_stock_lock();
	y = wv_young_find(qp);
	if (y)
		note(y, &young, is_init ? &move : NULL, attr, mask);
	is_time = wv_young_any_news() || (wv_maker_is_due() && !wv_young_find(qp));
	wv_stock_unlock();
	if (is_time)
		wv_maker_wake();
	return 0;
}

int wv_spares_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return any_young() ? move_young(qp, attr, mask)
			   : wv_real_usual_verbs()->modify_qp(qp, attr, mask);
}

int wv_spares_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		       struct ibv_qp_init_attr *init)
{
	struct wv_young_qp young = {.was_reset = false};
	int error;

	if (any_young() && look_up(qp, &young) && young.state == WV_YOUNG_AHEAD)
		put_back(&young);
	error = wv_real_verbs()->query_qp(qp, attr, mask, init);
	if (!error && young.was_reset && attr->qp_state == IBV_QPS_RESET)
		wv_qp_hide(attr);
	return error;
}

/*
 * Has the queue pair forgotten first: another may have its address as soon as it is destroyed.
 * Returns whether it was young, and has been an ordinary one.
 */
static bool forget(const struct ibv_qp *qp, struct wv_young_qp *young)
{
	struct wv_young_qp *y;
	bool is_ordinary;

	wv_stock_lock();
	y = wv_young_find(qp);
	is_ordinary = y && !wv_young_keeps_number(y);
	if (y)
		*young = *y;
	if (is_ordinary)
		wv_young_enter(y, WV_YOUNG_NONE);
	wv_stock_unlock();
	return is_ordinary;
}

/*
 * The number must not become that of another queue pair as long as the partner may name it. So the
 * queue pair stays, in RESET: that takes its completions off the completion queue, as a destroy
 * does. The maker destroys it later, and not before its lock is given back.
 */
static bool leave(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct wv_tickets *tickets;
	struct wv_young_qp *y;
	bool leaves;

	wv_worker_lock(&wv_making);
	tickets = wv_tickets_make(qp->context);
	wv_stock_lock();
	y = wv_young_find(qp);
	leaves = y && wv_young_keeps_number(y);
	if (leaves) {
		wv_partner_leave(y, WV_PAIR_ENDED);
		if (tickets && wv_ticket_begin(tickets, &y->key, &y->ticket)) {
			wv_ticket_made(&y->ticket, qp->handle);
			wv_ticket_keep(&y->ticket);
		}
	}
	wv_stock_unlock();
	if (leaves)
		wv_aside_modify_qp(qp, &attr, IBV_QP_STATE);
	wv_worker_unlock(&wv_making);
	if (leaves)
		wv_maker_wake();
	return leaves;
}

static int destroy_young(struct ibv_qp *qp)
{
	struct wv_young_qp young = {.state = WV_YOUNG_NONE};
	bool is_ordinary = forget(qp, &young);
	int error;

	if (wv_young_keeps_number(&young)) {
		if (leave(qp))
			return 0;
		is_ordinary = forget(qp, &young); /* the partner has gone meanwhile */
	}
	error = wv_real_verbs()->destroy_qp(qp);
	if (!error || !is_ordinary)
		return error;
	wv_stock_lock();
	wv_young_add(&young);
	wv_stock_unlock();
	return error;
}

int wv_spares_destroy_qp(struct ibv_qp *qp)
{
	return any_young() ? destroy_young(qp) : wv_real_verbs()->destroy_qp(qp);
}
