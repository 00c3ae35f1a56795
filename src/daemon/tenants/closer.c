/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/closer.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/thread.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#define KEPT_IDLE   2
#define PATIENCE_S  2
#define HELD_UP_US  50000
#define HELD_UP_FDS 16
#define MOST_FDS    (1u << 20)
#define NO_FD	    (-1)

struct wv_closing {
	TAILQ_ENTRY(wv_closing) link;
	uid_t uid;
	uint64_t container;
	int first, last;
	unsigned int n; /* with the one that is being closed */
	bool busy;
	int64_t since_us; /* busy: since when */
};

static struct wv_closing *next_free(struct wv_closer *c)
{
	struct wv_closing *one;

	TAILQ_FOREACH (one, &c->waiting, link)
		if (!one->busy && one->first != NO_FD)
			return one;
	return NULL;
}

static int take(struct wv_closer *c, struct wv_closing *one)
{
	int fd = one->first;

	one->first = c->next[fd];
	one->busy = true;
	one->since_us = wv_steady_clock();
	TAILQ_REMOVE(&c->waiting, one, link);
	TAILQ_INSERT_TAIL(&c->waiting, one, link);
	return fd;
}

static void done(struct wv_closer *c, struct wv_closing *one)
{
	one->busy = false;
	one->n--;
	c->n--;
	if (one->n || one == c->common)
		return;
	TAILQ_REMOVE(&c->waiting, one, link);
	free(one);
}

/* Called with the lock held. False: the thread is to end. */
static bool await(struct wv_closer *c)
{
	if (c->stopping || c->n_idle >= KEPT_IDLE)
		return false;
	c->n_idle++;
	pthread_cond_wait(&c->changed, &c->lock);
	c->n_idle--;
	return true;
}

static bool call_thread(struct wv_closer *c);

static void *work(void *arg)
{
	struct wv_closer *c = arg;
	struct wv_closing *one;

	pthread_mutex_lock(&c->lock);
	while ((one = next_free(c)) || await(c)) {
		int fd = one ? take(c, one) : NO_FD;

		if (!one)
			continue;
		/* For the next: threads that were called before may be one. */
		if (call_thread(c))
			pthread_cond_signal(&c->changed);
		pthread_mutex_unlock(&c->lock);
		close(fd);
		pthread_mutex_lock(&c->lock);
		done(c, one);
	}
	c->n_threads--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Called with the lock held, or before there is a thread. */
static int add_thread(struct wv_closer *c)
{
	pthread_t thread;
	int err = wv_thread_start(&thread, work, c);

	if (err)
		return err;
	pthread_detach(thread);
	c->n_threads++;
	return 0;
}

/*
 * Called with the lock held. Has one more thread look for what is to be closed: true if the caller
 * is to wake one. If there can be no more, the threads that there are do it later.
 */
static bool call_thread(struct wv_closer *c)
{
	if (!next_free(c))
		return false;
	if (!c->n_idle && c->n_threads < WV_CLOSERS)
		add_thread(c);
	return c->n_idle;
}

static int *new_table(void)
{
	struct rlimit files = {.rlim_cur = MOST_FDS};

	getrlimit(RLIMIT_NOFILE, &files);
	return calloc(files.rlim_cur < MOST_FDS ? files.rlim_cur : MOST_FDS, sizeof(int));
}

static struct wv_closing *new_closing(struct wv_closer *c, uid_t uid, uint64_t container)
{
	struct wv_closing *one = malloc(sizeof(*one));

	if (!one)
		return NULL;
	*one =
	    (struct wv_closing){.uid = uid, .container = container, .first = NO_FD, .last = NO_FD};
	TAILQ_INSERT_TAIL(&c->waiting, one, link);
	return one;
}

int wv_closer_start(struct wv_closer *c)
{
	pthread_condattr_t steady;
	int err = -ENOMEM;

	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &steady);
	pthread_condattr_destroy(&steady);
	TAILQ_INIT(&c->waiting);
	c->next = new_table();
	if (c->next)
		c->common = new_closing(c, (uid_t)-1, 0);
	if (c->common)
		err = add_thread(c);
	if (err) {
		free(c->common);
		free(c->next);
		c->next = NULL;
	}
	return err;
}

unsigned int wv_closer_stop(struct wv_closer *c)
{
	struct timespec until;
	unsigned int left;

	if (!c->next)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_broadcast(&c->changed);
	while (c->n_threads)
		if (pthread_cond_timedwait(&c->changed, &c->lock, &until))
			break;
	left = c->n_threads;
	pthread_mutex_unlock(&c->lock);
	if (left)
		return left;
	free(c->common);
	free(c->next);
	c->next = NULL;
	return 0;
}

static struct wv_closing *find(struct wv_closer *c, const struct wv_tenant *tenant)
{
	struct wv_closing *one;

	TAILQ_FOREACH (one, &c->waiting, link)
		if (one->uid == tenant->uid && one->container == tenant->container)
			return one;
	return NULL;
}

static void append(struct wv_closer *c, struct wv_closing *one, int fd)
{
	c->next[fd] = NO_FD;
	if (one->first == NO_FD)
		one->first = fd;
	else
		c->next[one->last] = fd;
	one->last = fd;
	one->n++;
	c->n++;
}

void wv_closer_give(struct wv_closer *c, const struct wv_tenant *tenant, int fd)
{
	struct wv_closing *one;
	bool wake;

	pthread_mutex_lock(&c->lock);
	one = find(c, tenant);
	if (!one)
		one = new_closing(c, tenant->uid, tenant->container);
	append(c, one ? one : c->common, fd);
	wake = call_thread(c);
	pthread_mutex_unlock(&c->lock);
	if (wake) /* only now, or the thread that wakes would wait for the lock */
		pthread_cond_signal(&c->changed);
}

unsigned int wv_closer_busy(struct wv_closer *c, const struct wv_tenant *tenant)
{
	const struct wv_closing *one;
	unsigned int n;

	pthread_mutex_lock(&c->lock);
	one = tenant ? find(c, tenant) : NULL;
	n = !tenant ? c->n : one ? one->n : 0;
	pthread_mutex_unlock(&c->lock);
	return n;
}

bool wv_closer_is_held_up(struct wv_closer *c, const struct wv_tenant *tenant)
{
	const struct wv_closing *one;
	bool held_up;

	pthread_mutex_lock(&c->lock);
	one = find(c, tenant);
	held_up = one && one->busy && one->n > HELD_UP_FDS &&
		  wv_steady_clock() - one->since_us > HELD_UP_US;
	pthread_mutex_unlock(&c->lock);
	return held_up;
}
