/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/maker.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/core/counters.h"
#include "preload/core/guard.h"
#include "preload/core/settings.h"
#include "preload/core/worker.h"
#include "preload/lease/aside.h"
#include "preload/pairs/keeper.h"
#include "preload/pairs/requests.h"
#include "preload/pairs/server_end.h"
#include "preload/spares/room.h"
#include "preload/stock/aside_qp.h"
#include "preload/stock/stock.h"
#include "preload/stock/young.h"

#define REPORT_MS 1000

static int work(void);

static struct wv_worker maker = {.work = work};
static bool due; /* to be woken once the program has connected a queue pair */

/* The program has not moved the queue pair yet, so it must see the state RESET. */
static int move(const struct wv_young_qp *spare)
{
	int error = 0;

	for (unsigned int i = 0; i < spare->moves.n && !error; i++)
		error = wv_aside_make_move(spare->qp, &spare->moves.all[i]);
	spare->qp->state = IBV_QPS_RESET;
	return error;
}

/* Destroys @spare, which nobody has, unless another process did (wv_ticket_begin_end()). */
static void destroy(struct wv_young_qp *spare, unsigned int *patience_ms)
{
	if (!wv_ticket_begin_end(&spare->ticket, patience_ms))
		return;
	wv_aside_destroy_qp(spare->qp);
	wv_ticket_end(&spare->ticket);
}

/*
 * The ticket is good as soon as there is something that another process can destroy. False: a verb
 * has failed.
 */
static bool make(struct wv_young_qp *spare)
{
	wv_room_enter(spare->key.context);
	spare->qp = wv_aside_create_qp(&spare->key, &spare->cap);
	if (!spare->qp) {
		wv_ticket_end(&spare->ticket);
		return false;
	}
	wv_ticket_made(&spare->ticket, spare->qp->handle);
	if (!move(spare))
		return true;
	destroy(spare, NULL);
	return false;
}

static bool add(const struct wv_young_qp *spare)
{
	bool wanted;

	wv_stock_lock();
	wanted = wv_stock_add(spare);
	wv_stock_unlock();
	return wanted;
}

static void put_off(const struct wv_young_qp *spare, bool failed)
{
	wv_stock_lock();
	wv_stock_put_off(&spare->key, failed, wv_clock_ms());
	wv_stock_unlock();
}

static bool is_lacking(struct wv_young_qp *spare)
{
	bool lacking;

	wv_stock_lock();
	lacking = !wv_worker_is_to_end(&maker) && wv_stock_lacking(spare, wv_clock_ms());
	wv_stock_unlock();
	return lacking;
}

/* False: no further one is to be made now. */
static bool make_and_add(struct wv_young_qp *spare)
{
	if (!make(spare)) {
		put_off(spare, true);
		return true;
	}
	if (add(spare)) {
		wv_count(&wv_counters.spares_made);
		return true;
	}
	destroy(spare, NULL);
	return false;
}

/* Gives @spare a ticket. */
static bool may_make(struct wv_young_qp *spare)
{
	struct wv_tickets *tickets = wv_tickets_make(spare->key.context);

	return wv_aside_may_add_qps(spare->key.context->cmd_fd) && tickets &&
	       wv_ticket_begin(tickets, &spare->key, &spare->ticket);
}

/* Returns whether there may be more to make. */
static bool make_one(void)
{
	struct wv_young_qp spare;
	bool more;

	wv_worker_lock_last(&wv_making);
	more = is_lacking(&spare);
	if (more && !may_make(&spare))
		put_off(&spare, false);
	else if (more)
		more = make_and_add(&spare);
	wv_worker_unlock(&wv_making);
	if (more)
		wv_keeper_start(&maker);
	return more;
}

/* Destroys @y (NULL: nothing). Call with both locks held; gives that of the stock back. */
static void destroy_unlock(struct wv_young_qp *y, unsigned int *patience_ms)
{
	struct wv_young_qp spare;

	if (y) {
		spare = *y;
		wv_young_enter(y, WV_YOUNG_NONE);
	}
	wv_stock_unlock();
	if (y)
		destroy(&spare, patience_ms);
}

/* Returns whether there was anything to destroy. */
static bool destroy_surplus(void)
{
	struct wv_young_qp *y = NULL;

	wv_worker_lock_last(&wv_making);
	wv_stock_lock();
	if (!wv_worker_is_to_end(&maker))
		y = wv_young_in(WV_YOUNG_BIT(WV_YOUNG_OVER), NULL) ?: wv_stock_surplus();
	destroy_unlock(y, NULL);
	wv_worker_unlock(&wv_making);
	return y;
}

static bool destroy_one(uint32_t states, const void *object, unsigned int *patience_ms)
{
	struct wv_young_qp *y;

	wv_stock_lock();
	y = wv_young_in(states, object);
	destroy_unlock(y, patience_ms);
	return y;
}

static void report(void)
{
	static uint64_t last_ms;
	uint64_t now_ms = wv_clock_ms();

	if (now_ms - last_ms < REPORT_MS || wv_worker_is_to_end(&maker))
		return;
	last_ms = now_ms;
	wv_aside_report_spares();
}

/* As long as there are spares, it looks whether they are still wanted. */
static int work(void)
{
	bool any_left;

	wv_stock_lock();
	wv_stock_plan(wv_clock_ms());
	wv_stock_unlock();
	any_left = !wv_worker_is_to_end(&maker) && wv_server_end_look();
	while (destroy_surplus() || make_one())
		;
	report();
	wv_stock_lock();
	any_left = any_left || wv_stock_count();
	wv_stock_unlock();
	return any_left ? WV_STOCK_IDLE_MS : -1;
}

/* A program that has one thread, and was not told otherwise, keeps it at that. */
static bool may_run(void)
{
	return wv_worker_runs(&maker) || wv_settings()->wants_spares || wv_program_has_threads();
}

void wv_maker_wake(void)
{
	__atomic_store_n(&due, false, __ATOMIC_RELAXED);
	if (may_run())
		wv_worker_call(&maker);
}

void wv_maker_wake_later(void)
{
	if (__atomic_exchange_n(&due, true, __ATOMIC_RELAXED))
		wv_maker_wake();
}

bool wv_maker_is_due(void)
{
	return __atomic_load_n(&due, __ATOMIC_RELAXED);
}

/* Destroys what uses @object, of what is in one of @states, and the spares. */
static bool destroy_all(uint32_t states, const void *object)
{
	unsigned int patience_ms = WV_TICKET_PATIENCE_MS;
	bool any = false;

	wv_worker_lock(&wv_making);
	wv_stock_lock();
	wv_stock_withdraw(object);
	wv_stock_unlock();
	while (destroy_one(states | WV_YOUNG_BIT(WV_YOUNG_OVER), object, &patience_ms))
		any = true;
	wv_worker_unlock(&wv_making);
	return any;
}

/* The same for what parents have made. */
static bool destroy_parents(int fd, const void *object)
{
	unsigned int patience_ms = WV_TICKET_PATIENCE_MS;
	struct wv_tickets *tickets = wv_tickets_of_parent(fd);
	struct wv_ticket ticket;
	uint32_t handle;
	bool any = false;

	while (tickets && wv_ticket_begin_end_of(tickets, object, &patience_ms, &ticket, &handle)) {
		if (wv_aside_end_qp(fd, handle)) {
			wv_ticket_put_back(&ticket);
			break;
		}
		wv_ticket_end(&ticket);
		any = true;
	}
	return any;
}

/* Children keep the ufile, and what they know of it. */
static void leave(const struct ibv_context *context)
{
	wv_worker_lock(&wv_making);
	wv_room_leave(context);
	wv_tickets_leave(context);
	wv_worker_unlock(&wv_making);
}

/* Spares first: the keeper might reserve further ones. */
static bool withdraw(const void *object)
{
	bool any = destroy_all(0, object);

	if (!wv_server_end_withdraw(object))
		return any;
	destroy_all(WV_YOUNG_BIT(WV_YOUNG_LEAVING) | (object ? WV_YOUNG_BIT(WV_YOUNG_LOST) : 0),
		    object);
	return true;
}

static bool withdraw_parents(const struct ibv_context *context, const void *object)
{
	bool any;

	wv_worker_lock(&wv_making);
	any = destroy_parents(context->cmd_fd, object);
	wv_worker_unlock(&wv_making);
	return any;
}

bool wv_maker_withdraw(const struct ibv_context *context, const void *object)
{
	bool any = withdraw(object);

	if (object && object == context)
		leave(context);
	else if (context)
		any = withdraw_parents(context, object) || any;
	return any;
}

bool wv_maker_withdraw_unseen(const struct ibv_context *context, const void *object)
{
	bool any;

	wv_guard_begin();
	any = object != context && destroy_parents(context->cmd_fd, object);
	wv_guard_end();
	return any;
}

bool wv_maker_before_fork(void)
{
	if (!wv_worker_lock_in_time(&wv_making))
		return false;
	wv_stock_lock();
	return true;
}

void wv_maker_after_fork(void)
{
	wv_stock_unlock();
	wv_worker_unlock(&wv_making);
}

/* The spares are the parent's, and so is the thread. */
void wv_maker_in_child(void)
{
	wv_stock_forked();
	wv_young_forked();
	wv_requests_forget();
	wv_worker_lock_forked(&wv_making);
	wv_maker_after_fork();
}
