/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/moves.h"

#include "abi/qp.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/trace.h"
#include "preload/spares/kept_pairs.h"
#include "preload/spares/locks.h"
#include "preload/spares/maker.h"
#include "preload/spares/pair_end.h"
#include "preload/spares/pair_moves.h"
#include "preload/spares/stock.h"
#include "preload/spares/young.h"

#include <string.h>

static bool any_young(void)
{
	return __builtin_expect(wv_young_any(), 0) && wv_process_is_adopted();
}

static bool is_paired(const struct ibv_qp *qp)
{
	return __builtin_expect(wv_pair_end_any(), 0) && wv_process_is_adopted() &&
	       wv_pair_owns(qp);
}

/* Copies the young queue pair @qp. False: it is not young. */
static bool look_up(const struct ibv_qp *qp, struct wv_young_qp *copy)
{
	struct wv_young_qp *young;

	wv_stock_lock();
	young = wv_young_find(qp);
	if (young)
		*copy = *young;
	wv_stock_unlock();
	return young;
}

/* From now on it is of interest only how the queue pair is connected. False: not even that. */
static bool grow_up(struct wv_young_qp *y)
{
	y->is_spare = false;
	y->is_grown = true;
	if (y->key.type == IBV_QPT_RC)
		return true;
	wv_young_remove(y);
	return false;
}

/* The spare made the move already. It is an ordinary queue pair once the program has made all. */
static bool claim(const struct ibv_qp *qp, const struct wv_verb *move)
{
	struct wv_young_qp *y;
	bool claimed;

	wv_stock_lock();
	y = wv_young_find(qp);
	claimed = y && y->is_spare && !memcmp(&y->moves.all[y->n], move, sizeof(*move));
	if (claimed && ++y->n == y->moves.n) {
		wv_stock_agree(&y->key, &y->moves);
		grow_up(y);
	}
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
		y->is_spare = false;
		y->was_reset = !y->n;
		y->moves.n = y->n;
		*young = *y;
	}
	wv_stock_unlock();
}

/* The queue pair @y has been connected as it says, or otherwise. */
static void note_connected(const struct wv_young_qp *y, bool as_it_says)
{
	uint64_t number = wv_stock_connected(&y->key, as_it_says ? &y->connection : NULL);

	if (number && wv_client_allows_pairs())
		wv_kept_pairs_note_connected(number, y->qp, &y->connection);
}

/* A queue pair that has made all moves to INIT was moved further. */
static void note_grown(struct wv_young_qp *y, const struct ibv_qp_attr *attr, int mask)
{
	bool as_usual = wv_connection_set(&y->connection, attr, mask);

	if (as_usual && attr->qp_state == IBV_QPS_RTR)
		return;
	if (!as_usual || attr->qp_state == IBV_QPS_RTS)
		note_connected(y, as_usual && y->connection.rtr.mask);
	wv_young_remove(y);
}

/* The kernel has moved a queue pair that was no spare, or is none any more. */
static void note(struct wv_young_qp *y, const struct wv_verb *move, bool is_init,
		 const struct ibv_qp_attr *attr, int mask)
{
	int state = attr->qp_state;

	if (y->is_grown) {
		note_grown(y, attr, mask);
		return;
	}
	if (is_init && y->moves.n < WV_SHAPE_MOVES) {
		y->moves.all[y->moves.n++] = *move;
		y->was_reset = false;
		return;
	}
	if (state == IBV_QPS_RESET && y->was_reset)
		return;
	if (state != IBV_QPS_RTR) {
		wv_young_remove(y);
		return;
	}
	wv_stock_agree(&y->key, &y->moves);
	if (grow_up(y))
		note_grown(y, attr, mask);
}

static int move_young(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct wv_young_qp young, *y;
	struct wv_verb move;
	uint64_t start = wv_trace_now();
	bool is_init = wv_init_move_set(&move, attr, mask), is_time;
	int error;

	if (is_init && claim(qp, &move)) {
		qp->state = IBV_QPS_INIT;
		wv_trace_ahead(start, WV_HOW_SPARE, IBV_QPS_INIT);
		return 0;
	}
	if (look_up(qp, &young) && young.is_spare)
		put_back(&young);
	error = wv_real_verbs()->modify_qp(qp, attr, mask);
	if (error || !(mask & IBV_QP_STATE))
		return error;
	wv_stock_lock();
	y = wv_young_find(qp);
	if (y)
		note(y, &move, is_init, attr, mask);
	is_time = wv_kept_pairs_has_news() || (wv_maker_is_due() && !wv_young_find(qp));
	wv_stock_unlock();
	if (is_time)
		wv_maker_wake();
	return 0;
}

int wv_spares_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (is_paired(qp))
		return wv_pair_modify_qp(qp, attr, mask);
	return any_young() ? move_young(qp, attr, mask)
			   : wv_real_usual_verbs()->modify_qp(qp, attr, mask);
}

int wv_spares_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		       struct ibv_qp_init_attr *init)
{
	struct wv_young_qp young = {.was_reset = false};
	int error;

	if (is_paired(qp))
		return wv_pair_query_qp(qp, attr, mask, init);
	if (any_young() && look_up(qp, &young) && young.is_spare)
		put_back(&young);
	error = wv_real_verbs()->query_qp(qp, attr, mask, init);
	if (!error && young.was_reset && attr->qp_state == IBV_QPS_RESET)
		wv_qp_hide(attr);
	return error;
}

/* Forgets the queue pair first: another may have its address as soon as it is destroyed. */
static int destroy_young(struct ibv_qp *qp)
{
	struct wv_young_qp young, *y;
	int error;

	wv_stock_lock();
	y = wv_young_find(qp);
	if (y) {
		young = *y;
		wv_young_remove(y);
	}
	wv_stock_unlock();
	error = wv_real_verbs()->destroy_qp(qp);
	if (!error || !y)
		return error;
	wv_stock_lock();
	wv_young_add(&young);
	wv_stock_unlock();
	return error;
}

int wv_spares_destroy_qp(struct ibv_qp *qp)
{
	if (is_paired(qp))
		return wv_pair_destroy_qp(qp);
	return any_young() ? destroy_young(qp) : wv_real_verbs()->destroy_qp(qp);
}
