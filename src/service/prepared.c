/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/prepared.h"

#include "base/base.h"
#include "base/library_thread.h"
#include "service/handshake.h"
#include "service/route.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <time.h>

#define MOST_STOCKS 64
#define IDLE_S	    60 /* after which a stock that nobody takes from is given up */

struct stock {
	LIST_ENTRY(stock) link;
	struct wv_connect_attr attr; /* points to the next four, and to objects of verbs */
	struct ibv_qp_init_attr qp;
	char node[NI_MAXHOST], user[WV_PAIR_USER], name[WV_SERVICE_NAME];
	TAILQ_HEAD(, wv_service_conn_end) ready;
	unsigned int n_ready;
	pthread_t thread;
	pthread_cond_t wake;
	bool has_thread; /* to be joined */
	bool is_at_work; /* the thread has not ended */
	bool is_over;	 /* the thread is to end */
	bool has_failed; /* the last one was not made: none is until it is asked for again */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, stock) all = LIST_HEAD_INITIALIZER(all);
static unsigned int n_all;
static pthread_once_t forks = PTHREAD_ONCE_INIT;

static bool is_same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool is_same_qp(const struct ibv_qp_init_attr *a, const struct ibv_qp_init_attr *b)
{
	return a->qp_context == b->qp_context && a->send_cq == b->send_cq &&
	       a->recv_cq == b->recv_cq && a->srq == b->srq && a->sq_sig_all == b->sq_sig_all &&
	       !memcmp(&a->cap, &b->cap, sizeof(a->cap));
}

static bool is_for(const struct stock *stock, const struct wv_connect_attr *attr)
{
	const struct wv_connect_attr *own = &stock->attr;

	return own->pd == attr->pd && own->access == attr->access &&
	       own->port_num == attr->port_num && is_same_text(own->node, attr->node) &&
	       is_same_text(own->user, attr->user) && is_same_text(own->name, attr->name) &&
	       is_same_qp(own->qp, attr->qp);
}

/* Has *@text point to a copy. False: it is too long for one. */
static bool copy_text(char *to, size_t capacity, const char **text)
{
	if (!*text)
		return true;
	if (!wv_copy_string(to, capacity, *text))
		return false;
	*text = to;
	return true;
}

static bool copy_attr(struct stock *stock, const struct wv_connect_attr *attr)
{
	stock->attr = *attr;
	stock->qp = *attr->qp;
	stock->attr.qp = &stock->qp;
	return copy_text(stock->node, sizeof(stock->node), &stock->attr.node) &&
	       copy_text(stock->user, sizeof(stock->user), &stock->attr.user) &&
	       copy_text(stock->name, sizeof(stock->name), &stock->attr.name);
}

static void free_stock(struct stock *stock)
{
	pthread_cond_destroy(&stock->wake);
	free(stock);
}

/* With the lock. NULL: there are too many, or memory is short. */
static struct stock *add(const struct wv_connect_attr *attr)
{
	struct stock *stock = n_all < MOST_STOCKS ? calloc(1, sizeof(*stock)) : NULL;
	pthread_condattr_t steady;

	if (!stock)
		return NULL;
	TAILQ_INIT(&stock->ready);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&stock->wake, &steady);
	pthread_condattr_destroy(&steady);
	if (!copy_attr(stock, attr)) {
		free_stock(stock);
		return NULL;
	}
	LIST_INSERT_HEAD(&all, stock, link);
	n_all++;
	return stock;
}

static struct stock *find(const struct wv_connect_attr *attr)
{
	struct stock *stock;

	LIST_FOREACH (stock, &all, link)
		if (is_for(stock, attr))
			return stock;
	return add(attr);
}

/* The oldest that is ready, which is the caller's; NULL: none is. With the lock. */
static struct wv_service_conn_end *take_first(struct stock *stock)
{
	struct wv_service_conn_end *end = TAILQ_FIRST(&stock->ready);

	if (!end)
		return NULL;
	TAILQ_REMOVE(&stock->ready, end, ready_link);
	stock->n_ready--;
	return end;
}

/* Makes connections as long as some are missing. With the lock, which is not held meanwhile. */
static void fill(struct stock *stock)
{
	struct wv_service_conn_end *end;

	while (!stock->is_over && !stock->has_failed && stock->n_ready < stock->attr.ahead) {
		pthread_mutex_unlock(&lock);
		int err = wv_service_make(&stock->attr, &end);

		pthread_mutex_lock(&lock);
		stock->has_failed = err;
		if (err)
			continue;
		TAILQ_INSERT_TAIL(&stock->ready, end, ready_link);
		stock->n_ready++;
	}
}

/* False: nobody has taken one for a long time. With the lock, which is not held meanwhile. */
static bool is_woken(struct stock *stock)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += IDLE_S;
	return stock->is_over || pthread_cond_timedwait(&stock->wake, &lock, &end) != ETIMEDOUT;
}

static void *work(void *data)
{
	struct stock *stock = data;
	struct wv_service_conn_end *end;

	pthread_mutex_lock(&lock);
	do
		fill(stock);
	while (is_woken(stock) && !stock->is_over);
	while ((end = take_first(stock))) {
		pthread_mutex_unlock(&lock);
		wv_service_conn_end(end);
		pthread_mutex_lock(&lock);
	}
	stock->is_at_work = false;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* With the lock. */
static void put_to_work(struct stock *stock)
{
	stock->has_failed = false;
	if (stock->is_at_work) {
		pthread_cond_signal(&stock->wake);
		return;
	}
	if (stock->has_thread)
		pthread_join(stock->thread, NULL);
	stock->has_thread = !wv_library_thread(&stock->thread, work, stock);
	stock->is_at_work = stock->has_thread;
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child has no thread that would fill the stocks, and what is ready is its parent's. */
static void in_child(void)
{
	LIST_INIT(&all);
	n_all = 0;
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

struct wv_service_conn_end *wv_service_stock_take(const struct wv_connect_attr *attr)
{
	struct wv_service_conn_end *end = NULL;
	struct stock *stock;

	if (!attr->pd || !attr->qp)
		return NULL;
	pthread_once(&forks, watch_forks);
	pthread_mutex_lock(&lock);
	stock = find(attr);
	while (stock && (end = take_first(stock)) && !wv_service_route_lasts(end)) {
		pthread_mutex_unlock(&lock);
		wv_service_conn_end(end);
		pthread_mutex_lock(&lock);
		stock = find(attr); /* it may have been released meanwhile */
	}
	if (stock) {
		stock->attr.ahead = attr->ahead;
		put_to_work(stock);
	}
	pthread_mutex_unlock(&lock);
	return end;
}

/* Waits for the end of its thread, and frees @stock, which is in no list any more. */
static void end_stock(struct stock *stock)
{
	if (stock->has_thread)
		pthread_join(stock->thread, NULL);
	free_stock(stock);
}

WV_PUBLIC void wv_service_release(const struct ibv_pd *pd)
{
	LIST_HEAD(, stock) ended = LIST_HEAD_INITIALIZER(ended);
	struct stock *stock, *next;

	pthread_mutex_lock(&lock);
	for (stock = LIST_FIRST(&all); stock; stock = next) {
		next = LIST_NEXT(stock, link);
		if (stock->attr.pd != pd)
			continue;
		stock->is_over = true;
		pthread_cond_signal(&stock->wake);
		LIST_REMOVE(stock, link);
		LIST_INSERT_HEAD(&ended, stock, link);
		n_all--;
	}
	pthread_mutex_unlock(&lock);
	while ((stock = LIST_FIRST(&ended))) {
		LIST_REMOVE(stock, link);
		end_stock(stock);
	}
}
