/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/maker.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/core/counters.h"
#include "preload/core/own_thread.h"
#include "preload/lease/aside.h"
#include "preload/spares/aside_qp.h"
#include "preload/spares/keeper.h"
#include "preload/spares/keeper_sock.h"
#include "preload/spares/kept_pairs.h"
#include "preload/spares/locks.h"
#include "preload/spares/maker_sleep.h"
#include "preload/spares/requests.h"
#include "preload/spares/stock.h"
#include "preload/spares/young.h"

#include <errno.h>

#define REPORT_MS 1000

/* Written around every fork, so it lies together. */
static struct {
	bool running, stopped;
	bool due; /* to be woken once the program has connected a queue pair */
} self WV_HOT;

/* The program has not moved the queue pair yet, so it must see the state RESET. */
static int move(struct ibv_qp *qp, const struct wv_init_moves *moves)
{
	int error = 0;

	for (unsigned int i = 0; i < moves->n && !error; i++)
		error = wv_aside_make_move(qp, &moves->all[i]);
	qp->state = IBV_QPS_RESET;
	return error;
}

static bool make(const struct wv_order *order, struct wv_spare *spare)
{
	int error;

	*spare = (struct wv_spare){.qp = NULL};
	spare->qp = wv_aside_create_qp(&order->key, &spare->cap, &spare->ring);
	error = spare->qp ? move(spare->qp, &order->moves) : errno;
	if (spare->qp && error)
		wv_aside_destroy_qp(spare->qp);
	return !error;
}

/* Puts the spare of @order into the stock. False: it is not wanted any more. */
static bool add(const struct wv_order *order, const struct wv_spare *spare)
{
	bool wanted;

	wv_stock_lock();
	wanted = wv_stock_add(order, spare);
	wv_stock_unlock();
	if (wanted)
		wv_count(&wv_counters.spares_made);
	else
		wv_aside_destroy_qp(spare->qp);
	return wanted;
}

/* @how is wv_stock_fail() or wv_stock_put_off(). */
static void postpone(const struct wv_order *order,
		     void (*how)(const struct wv_order *order, uint64_t now_ms))
{
	wv_stock_lock();
	how(order, wv_clock_ms());
	wv_stock_unlock();
}

static bool is_lacking(struct wv_order *order)
{
	bool lacking;

	wv_stock_lock();
	lacking = !__atomic_load_n(&self.stopped, __ATOMIC_RELAXED) &&
		  wv_stock_lacking(order, wv_clock_ms());
	wv_stock_unlock();
	return lacking;
}

/* Returns whether there may be more to make. */
static bool make_one(void)
{
	struct wv_order order;
	struct wv_spare spare;
	bool more;

	wv_making_lock_last();
	more = is_lacking(&order);
	if (more && !wv_aside_may_add_qps(order.key.context->cmd_fd))
		postpone(&order, wv_stock_put_off);
	else if (more && !make(&order, &spare))
		postpone(&order, wv_stock_fail);
	else if (more)
		more = add(&order, &spare);
	if (more)
		wv_keeper_start();
	wv_making_unlock();
	return more;
}

static bool destroy_one(bool (*which)(const void *arg, struct wv_spare *spare), const void *arg)
{
	struct wv_spare spare;
	bool any;

	wv_stock_lock();
	any = which(arg, &spare);
	wv_stock_unlock();
	if (any)
		wv_aside_destroy_qp(spare.qp);
	return any;
}

static bool surplus(const void *unused, struct wv_spare *spare)
{
	(void)unused;
	return !__atomic_load_n(&self.stopped, __ATOMIC_RELAXED) && wv_stock_surplus(spare);
}

static bool destroy_surplus(void)
{
	bool any;

	wv_making_lock_last();
	any = destroy_one(surplus, NULL);
	wv_making_unlock();
	return any;
}

/* What the program's threads have noted for the daemon. */
static void tell(void)
{
	if (__atomic_load_n(&self.stopped, __ATOMIC_RELAXED))
		return;
	wv_kept_pairs_report_connected();
	wv_keeper_flush();
}

static uint32_t work(void)
{
	uint32_t left;

	wv_stock_lock();
	wv_stock_plan(wv_clock_ms());
	wv_stock_unlock();
	tell();
	while (destroy_surplus() || make_one())
		;
	wv_stock_lock();
	left = wv_stock_count();
	wv_stock_unlock();
	return left;
}

static bool has_news(void)
{
	bool any;

	wv_stock_lock();
	any = !__atomic_load_n(&self.stopped, __ATOMIC_RELAXED) && wv_kept_pairs_has_news();
	wv_stock_unlock();
	return any;
}

/* Returns the time of the last report, which is now or @last_ms. */
static uint64_t report(uint64_t last_ms)
{
	uint64_t now_ms = wv_clock_ms();

	if (now_ms - last_ms < REPORT_MS || __atomic_load_n(&self.stopped, __ATOMIC_RELAXED))
		return last_ms;
	wv_aside_report_spares();
	return now_ms;
}

static void *run(void *unused)
{
	uint64_t reported_ms = 0;

	for (;;) {
		bool look_again = work();

		reported_ms = report(reported_ms);
		wv_maker_sleep(look_again, has_news);
	}
	return unused;
}

void wv_maker_stop(void)
{
	__atomic_store_n(&self.stopped, true, __ATOMIC_RELAXED);
}

void wv_maker_rest(void)
{
	wv_maker_stop();
	wv_keeper_stop();
}

/* A thread that cannot be started is not tried again. */
static void start(void)
{
	wv_making_lock();
	if (!self.running && !__atomic_load_n(&self.stopped, __ATOMIC_RELAXED)) {
		wv_maker_sleep_init();
		if (wv_own_thread_start(run))
			wv_maker_stop();
		else
			__atomic_store_n(&self.running, true, __ATOMIC_RELAXED);
	}
	wv_making_unlock();
}

void wv_maker_wake(void)
{
	if (__atomic_load_n(&self.stopped, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&self.due, false, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&self.running, __ATOMIC_RELAXED))
		start();
	else
		wv_maker_call();
}

void wv_maker_wake_later(void)
{
	if (__atomic_exchange_n(&self.due, true, __ATOMIC_RELAXED))
		wv_maker_wake();
}

bool wv_maker_is_due(void)
{
	return __atomic_load_n(&self.due, __ATOMIC_RELAXED);
}

/* Spares first: the keeper might make further ends of them. */
bool wv_maker_withdraw(const void *object)
{
	bool any = false;

	wv_making_lock();
	while (destroy_one(wv_stock_withdraw, object))
		any = true;
	wv_making_unlock();
	return wv_kept_pairs_withdraw(object) || any;
}

void wv_maker_before_fork(void)
{
	wv_making_lock();
	wv_stock_lock();
}

void wv_maker_after_fork(void)
{
	wv_stock_unlock();
	wv_making_unlock();
}

/* The spares are the parent's, and so is the thread. */
void wv_maker_in_child(void)
{
	wv_stock_forget();
	wv_young_forget();
	wv_requests_forget();
	wv_kept_pairs_forked();
	wv_maker_sleep_forked();
	self.running = false;
	wv_spare_locks_forked();
	wv_maker_after_fork();
}
