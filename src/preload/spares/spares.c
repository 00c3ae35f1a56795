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
#include "preload/lease/one_thread.h"
#include "preload/pairs/requests.h"
#include "preload/spares/maker.h"
#include "preload/stock/stock.h"
#include "preload/stock/tickets.h"
#include "preload/stock/young.h"

#include <errno.h>
#include <sys/single_threaded.h>

static unsigned int created; /* queue pairs, up to 2 */

/*
 * Whether this process may have spares: nothing is learned from a program's first queue pair, since
 * most programs have no second.
 */
static bool is_active(void)
{
	return __atomic_load_n(&created, __ATOMIC_RELAXED) > 1 && wv_process_is_adopted();
}

static bool may_have_spares(int fd, const struct ibv_qp_init_attr *attr)
{
	if (__atomic_load_n(&created, __ATOMIC_RELAXED) < 2)
		__atomic_fetch_add(&created, 1, __ATOMIC_RELAXED);
	return is_active() && wv_settings()->spares &&
	       (!__libc_single_threaded || wv_settings()->wants_spares) &&
	       wv_client_allows_spares() && wv_one_thread_is_not_told(fd) &&
	       wv_context_facts(fd).is_own && wv_abi_prepares_qps(wv_context_driver(fd)) &&
	       wv_qp_is_ahead(attr->qp_type, IBV_QPS_INIT);
}

/* The spare for the next queue pair of @shape, which is young from then on. NULL: there is none. */
static struct wv_young_qp *take(struct wv_shape *shape)
{
	const struct wv_qp_peer *request = wv_request_current();
	struct wv_young_qp *spare = wv_request_take(&shape->key);

	if (!spare && wv_young_has_room())
		spare = wv_stock_take(shape, WV_YOUNG_AHEAD);
	if (spare)
		spare->by_request = request->qp_num;
	return spare;
}

static bool ask(const struct wv_qp_key *key, struct wv_young_qp *spare)
{
	struct wv_young_qp *taken;
	struct wv_shape *shape;
	bool is_low;

	wv_stock_lock();
	shape = wv_stock_ask(key, wv_clock_ms());
	taken = shape ? take(shape) : NULL;
	if (taken)
		*spare = *taken;
	is_low = shape && wv_stock_is_low(shape);
	wv_stock_unlock();
	if (is_low && key->type == IBV_QPT_RC)
		wv_maker_wake_later();
	else if (is_low)
		wv_maker_wake();
	return taken;
}

bool wv_spares_make_room(const struct ibv_context *context)
{
	int error = errno;
	bool made = false;

	/* What kernels and providers say at a limit of the process, the cgroup or the device. */
	if (error == ENOMEM || error == ENOSPC || error == EAGAIN)
		made = wv_spares_give_back(context, NULL);
	errno = error;
	return made;
}

static struct ibv_qp *create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr again = *attr;

	return WV_WITH_ROOM(pd->context,
			    (*attr = again, wv_real_usual_verbs()->create_qp(pd, attr)));
}

static void learn(const struct wv_qp_key *key, struct ibv_qp *qp)
{
	wv_stock_lock();
	wv_young_add(&(struct wv_young_qp){.state = WV_YOUNG_LEARNED,
					   .key = *key,
					   .qp = qp,
					   .by_request = wv_request_current()->qp_num});
	wv_stock_unlock();
}

struct ibv_qp *wv_spares_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct wv_qp_key key;
	struct wv_young_qp spare;
	struct ibv_qp *qp;
	uint64_t start = wv_trace_now();

	if (!may_have_spares(pd->context->cmd_fd, attr))
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

bool wv_spares_give_back(const struct ibv_context *context, const void *object)
{
	if (!is_active() && !wv_tickets_any())
		return false;
	return wv_process_is_adopted() ? wv_maker_withdraw(context, object)
				       : wv_maker_withdraw_unseen(context, object);
}
