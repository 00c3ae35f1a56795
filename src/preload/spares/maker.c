/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/maker.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/core/counters.h"
#include "preload/core/guard.h"
#include "preload/core/own_thread.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"
#include "preload/lease/aside.h"
#include "preload/spares/stock.h"
#include "preload/spares/young.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define SOON_US	  1000 /* lets the program connect the queue pair that it has just created */
#define YIELD_US  20
#define REPORT_MS 1000

/* Written around every fork, so it lies together. */
static struct {
	pthread_mutex_t making, stock;
	unsigned int n_waiting; /* for the maker's lock; the thread lets them go first */
	bool running, stopped;
	bool sleeping; /* until wv_maker_wake() */
} self WV_HOT = {.making = PTHREAD_MUTEX_INITIALIZER, .stock = PTHREAD_MUTEX_INITIALIZER};

static sem_t woken;

void wv_stock_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&self.stock);
}

void wv_stock_unlock(void)
{
	pthread_mutex_unlock(&self.stock);
	wv_guard_end();
}

static void take_lock(void)
{
	__atomic_fetch_add(&self.n_waiting, 1, __ATOMIC_ACQ_REL);
	wv_guard_begin();
	pthread_mutex_lock(&self.making);
	__atomic_fetch_sub(&self.n_waiting, 1, __ATOMIC_ACQ_REL);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&self.making);
	wv_guard_end();
}

/* A mutex is not fair, and the program must wait for one spare at most. */
static void take_lock_last(void)
{
	while (__atomic_load_n(&self.n_waiting, __ATOMIC_ACQUIRE))
		usleep(YIELD_US);
	take_lock();
}

static void destroy(struct ibv_qp *qp)
{
	wv_scope.aside = true;
	wv_real_verbs()->destroy_qp(qp);
	wv_scope.aside = false;
}

static struct ibv_qp *create(const struct wv_qp_key *key, struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = key->send_cq,
	    .recv_cq = key->recv_cq,
	    .srq = key->srq,
	    .cap = key->cap,
	    .qp_type = key->type,
	    .sq_sig_all = (int)key->sq_sig_all,
	};
	struct ibv_qp *qp = wv_real_verbs()->create_qp(key->pd, &attr);

	*cap = attr.cap;
	return qp;
}

/* The program has not moved the queue pair yet, so it must see the state RESET. */
static int move(struct ibv_qp *qp, const struct wv_init_moves *moves)
{
	int error = 0;

	for (unsigned int i = 0; i < moves->n && !error; i++) {
		struct ibv_qp_attr attr;
		int mask = wv_verb_get_move(&moves->all[i], &attr);

		error = wv_real_verbs()->modify_qp(qp, &attr, mask);
	}
	qp->state = IBV_QPS_RESET;
	return error;
}

static bool make(const struct wv_order *order, struct wv_spare *spare)
{
	int error;

	if (!wv_aside_may_add_qps(order->key.context->cmd_fd))
		return false;
	wv_scope.aside = true;
	spare->qp = create(&order->key, &spare->cap);
	error = spare->qp ? move(spare->qp, &order->moves) : errno;
	wv_scope.aside = false;
	if (spare->qp && error)
		destroy(spare->qp);
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
		destroy(spare->qp);
	return wanted;
}

static void fail(const struct wv_order *order)
{
	wv_stock_lock();
	wv_stock_fail(order, wv_clock_ms());
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

	take_lock_last();
	more = is_lacking(&order);
	if (more && !make(&order, &spare))
		fail(&order);
	else if (more)
		more = add(&order, &spare);
	give_lock();
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
		destroy(spare.qp);
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

	take_lock_last();
	any = destroy_one(surplus, NULL);
	give_lock();
	return any;
}

static uint32_t work(void)
{
	uint32_t left;

	wv_stock_lock();
	wv_stock_plan(wv_clock_ms());
	wv_stock_unlock();
	while (destroy_surplus() || make_one())
		;
	wv_stock_lock();
	left = wv_stock_count();
	wv_stock_unlock();
	return left;
}

/* Looks again later if there are spares, which may become idle. */
static void sleep_until_woken(bool look_again)
{
	struct timespec until;

	__atomic_store_n(&self.sleeping, true, __ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WV_STOCK_IDLE_MS / 1000;
	if (look_again)
		sem_clockwait(&woken, CLOCK_MONOTONIC, &until);
	else
		sem_wait(&woken);
	__atomic_store_n(&self.sleeping, false, __ATOMIC_SEQ_CST);
	usleep(SOON_US);
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
		sleep_until_woken(look_again);
	}
	return unused;
}

void wv_maker_stop(void)
{
	__atomic_store_n(&self.stopped, true, __ATOMIC_RELAXED);
}

/* A thread that cannot be started is not tried again. */
static void start(void)
{
	take_lock();
	if (!self.running && !__atomic_load_n(&self.stopped, __ATOMIC_RELAXED)) {
		sem_init(&woken, 0, 0);
		if (wv_own_thread_start(run))
			wv_maker_stop();
		else
			__atomic_store_n(&self.running, true, __ATOMIC_RELAXED);
	}
	give_lock();
}

void wv_maker_wake(void)
{
	if (__atomic_load_n(&self.stopped, __ATOMIC_RELAXED))
		return;
	if (!__atomic_load_n(&self.running, __ATOMIC_RELAXED))
		start();
	else if (__atomic_exchange_n(&self.sleeping, false, __ATOMIC_SEQ_CST))
		sem_post(&woken);
}

bool wv_maker_withdraw(const void *object)
{
	bool any = false;

	take_lock();
	while (destroy_one(wv_stock_withdraw, object))
		any = true;
	give_lock();
	return any;
}

void wv_maker_before_fork(void)
{
	take_lock();
	wv_stock_lock();
}

void wv_maker_after_fork(void)
{
	wv_stock_unlock();
	give_lock();
}

/* The spares are the parent's, and so is the thread. */
void wv_maker_in_child(void)
{
	wv_stock_forget();
	wv_young_forget();
	self.running = self.sleeping = false;
	self.n_waiting = 0;
	wv_maker_after_fork();
}
