/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/spares.h"

#include "abi/qp.h"
#include "base/clock.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/counters.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/core/trace.h"
#include "preload/lease/aside.h"
#include "preload/spares/locks.h"
#include "preload/spares/maker.h"
#include "preload/spares/pair_moves.h"
#include "preload/spares/requests.h"
#include "preload/spares/stock.h"
#include "preload/spares/young.h"

static unsigned int created; /* queue pairs, up to 2 */

/*
 * Whether this process may have spares: nothing is learned from a program's first queue pair, since
 * most programs have no second.
 */
static bool is_active(void)
{
	return __atomic_load_n(&created, __ATOMIC_RELAXED) > 1 && wv_process_is_adopted();
}

static bool may_have_spares(const struct ibv_qp_init_attr *attr)
{
	if (__atomic_load_n(&created, __ATOMIC_RELAXED) < 2)
		__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
	return is_active() && wv_settings()->spares && wv_client_allows_spares() &&
	       wv_qp_is_ahead(attr->qp_type, IBV_QPS_INIT);
}

/* Takes a spare of @shape, which is young from then on. */
static bool take(struct wv_shape *shape, struct wv_spare *spare)
{
	struct wv_young_qp young = {
	    .key = shape->key,
	    .is_spare = true,
	    .moves = shape->moves,
	    .connection.by_request = wv_request_current()->qp_num,
	};

	if (!wv_young_has_room() || !wv_stock_take(shape, spare))
		return false;
	young.qp = spare->qp;
	wv_young_add(&young);
	return true;
}

static bool ask(const struct wv_qp_key *key, struct wv_spare *spare)
{
	struct wv_shape *shape;
	bool taken, is_low;

	wv_stock_lock();
	shape = wv_stock_ask(key, wv_clock_ms());
	taken = shape && (wv_pair_take(key, wv_request_current(), spare) || take(shape, spare));
	is_low = shape && wv_stock_is_low(shape);
	wv_stock_unlock();
	if (is_low && key->type == IBV_QPT_RC)
		wv_maker_wake_later();
	else if (is_low)
		wv_maker_wake();
	return taken;
}

/* The genuine verb. If the device is at its limits, the spares go first. */
static struct ibv_qp *create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr again = *attr;
	struct ibv_qp *qp = wv_real_usual_verbs()->create_qp(pd, attr);

	if (qp || !wv_spares_give_back(NULL))
		return qp;
	*attr = again;
	return wv_real_usual_verbs()->create_qp(pd, attr);
}

static void learn(const struct wv_qp_key *key, struct ibv_qp *qp)
{
	wv_stock_lock();
	wv_young_add(&(struct wv_young_qp){
	    .key = *key, .qp = qp, .connection.by_request = wv_request_current()->qp_num});
	wv_stock_unlock();
}

struct ibv_qp *wv_spares_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct wv_qp_key key;
	struct wv_spare spare;
	struct ibv_qp *qp;
	uint64_t start = wv_trace_now();

	if (!may_have_spares(attr))
		return create(pd, attr);
	wv_qp_key_set(&key, pd, attr);
	if (ask(&key, &spare)) {
		spare.qp->qp_context = attr->qp_context;
		attr->cap = spare.cap;
		wv_count(&wv_counters.spares_taken);
		wv_aside_count_spare(key.context->cmd_fd);
		wv_trace_ahead(start, WV_HOW_SPARE, IBV_QPS_RESET);
		return spare.qp;
	}
	qp = create(pd, attr);
	if (qp)
		learn(&key, qp);
	return qp;
}

bool wv_spares_give_back(const void *object)
{
	return is_active() && wv_maker_withdraw(object);
}
