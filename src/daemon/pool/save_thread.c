/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/save_thread.h"

#include "base/base.h"
#include "daemon/loop/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <time.h>

STAILQ_HEAD(orders, wv_save_order);

struct wv_save_thread {
	pthread_t thread;
	struct wv_store store; /* a copy with a descriptor of its own */
	int done_fd;	       /* an eventfd */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock: */
	struct orders waiting, done;
	unsigned int n; /* orders that wait, are carried out or are done */
	bool stopping;
	bool left_behind; /* nobody waits for the thread: it frees everything */
	bool ended;
};

void wv_save_order_free(struct wv_save_order *order)
{
	if (order->copy)
		wv_recipe_free(order->copy);
	free(order);
}

static void free_orders(struct orders *orders)
{
	struct wv_save_order *order;

	while ((order = STAILQ_FIRST(orders))) {
		STAILQ_REMOVE_HEAD(orders, link);
		wv_save_order_free(order);
	}
}

static void free_all(struct wv_save_thread *t)
{
	free_orders(&t->waiting);
	free_orders(&t->done);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	wv_store_close(&t->store);
	wv_close_fd(&t->done_fd);
	free(t);
}

/* The next order; NULL: the thread is to end. */
static struct wv_save_order *await(struct wv_save_thread *t)
{
	struct wv_save_order *order;

	pthread_mutex_lock(&t->lock);
	while (STAILQ_EMPTY(&t->waiting) && !t->stopping)
		pthread_cond_wait(&t->changed, &t->lock);
	order = t->left_behind ? NULL : STAILQ_FIRST(&t->waiting);
	if (order)
		STAILQ_REMOVE_HEAD(&t->waiting, link);
	pthread_mutex_unlock(&t->lock);
	return order;
}

static void deliver(struct wv_save_thread *t, struct wv_save_order *order)
{
	pthread_mutex_lock(&t->lock);
	STAILQ_INSERT_TAIL(&t->done, order, link);
	pthread_mutex_unlock(&t->lock);
	eventfd_write(t->done_fd, 1);
}

static void *carry_out(void *arg)
{
	struct wv_save_thread *t = arg;
	struct wv_save_order *order;
	bool left_behind;

	while ((order = await(t))) {
		order->err = order->copy ? wv_store_save(&t->store, order->copy)
					 : wv_store_remove(&t->store, order->uid, order->id);
		deliver(t, order);
	}
	pthread_mutex_lock(&t->lock);
	t->ended = true;
	left_behind = t->left_behind;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (left_behind)
		free_all(t);
	return NULL;
}

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t steady;

	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &steady);
	pthread_condattr_destroy(&steady);
}

int wv_save_thread_start(struct wv_save_thread **thread, const struct wv_store *store)
{
	struct wv_save_thread *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	STAILQ_INIT(&t->waiting);
	STAILQ_INIT(&t->done);
	pthread_mutex_init(&t->lock, NULL);
	init_condition(&t->changed);
	t->store = *store;
	t->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (store->dir >= 0)
		t->store.dir = fcntl(store->dir, F_DUPFD_CLOEXEC, 0);
	err = t->done_fd < 0 || (store->dir >= 0 && t->store.dir < 0) ? -errno : 0;
	if (!err)
		err = wv_thread_start(&t->thread, carry_out, t);
	if (err)
		free_all(t);
	else
		*thread = t;
	return err;
}

static struct timespec in(int64_t us)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += us % 1000000 * 1000;
	t.tv_sec += us / 1000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

void wv_save_thread_stop(struct wv_save_thread *t, int64_t timeout_us)
{
	struct timespec until = in(timeout_us);
	pthread_t thread = t->thread;
	bool ended;
	int err = 0;

	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_broadcast(&t->changed);
	while (!t->ended && !err)
		err = pthread_cond_timedwait(&t->changed, &t->lock, &until);
	ended = t->ended;
	t->left_behind = !ended;
	pthread_mutex_unlock(&t->lock);
	if (!ended) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	free_all(t);
}

static int give(struct wv_save_thread *t, struct wv_save_order order)
{
	struct wv_save_order *given = malloc(sizeof(*given));

	if (!given)
		return -ENOMEM;
	*given = order;
	pthread_mutex_lock(&t->lock);
	STAILQ_INSERT_TAIL(&t->waiting, given, link);
	t->n++;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

int wv_save_thread_save(struct wv_save_thread *t, const struct wv_recipe *recipe)
{
	struct wv_save_order order = {.uid = recipe->uid, .id = recipe->id};
	int err;

	if (wv_save_thread_busy(t) >= WV_MAX_SAVES)
		return -EAGAIN;
	order.copy = wv_recipe_copy(recipe);
	err = order.copy ? give(t, order) : -ENOMEM;
	if (err && order.copy)
		wv_recipe_free(order.copy);
	return err;
}

int wv_save_thread_remove(struct wv_save_thread *t, uid_t uid, uint64_t id)
{
	return give(t, (struct wv_save_order){.uid = uid, .id = id});
}

int wv_save_thread_fd(const struct wv_save_thread *t)
{
	return t->done_fd;
}

struct wv_save_order *wv_save_thread_done(struct wv_save_thread *t)
{
	struct wv_save_order *order;
	eventfd_t n;

	/* Read before the list, so that an order done from now on makes it readable again. */
	eventfd_read(t->done_fd, &n);
	pthread_mutex_lock(&t->lock);
	order = STAILQ_FIRST(&t->done);
	if (order) {
		STAILQ_REMOVE_HEAD(&t->done, link);
		t->n--;
	}
	pthread_mutex_unlock(&t->lock);
	return order;
}

unsigned int wv_save_thread_busy(struct wv_save_thread *t)
{
	unsigned int n;

	pthread_mutex_lock(&t->lock);
	n = t->n;
	pthread_mutex_unlock(&t->lock);
	return n;
}
