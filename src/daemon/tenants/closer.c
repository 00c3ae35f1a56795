/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/closer.h"

#include "base/base.h"
#include "daemon/config/privileges.h"
#include "daemon/loop/loop.h"
#include "daemon/tenants/share.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>

#define HELD_UP_US  50000
#define HELD_UP_FDS 16
/*
 * The loop takes the same locks as the workers, and they are many where they close one descriptor
 * after another. No more than HELD_UP_FDS, since others are not held up by what they wait for.
 */
#define AT_ONCE HELD_UP_FDS
#define IDLE	INT64_MAX
#define NO_FD	(-1)

/* What is to be closed for one tenant: a work, which closes some descriptors and is given again. */
struct wv_closing {
	struct wv_work work; /* first */
	struct wv_closer *closer;
	TAILQ_ENTRY(wv_closing) link;
	uid_t uid;
	uint64_t container;
	int first, last;
	unsigned int n; /* with those that were taken; while there are any, the work is given */
	_Atomic int64_t since_us; /* one is being closed since then; or IDLE */
};

/* Takes some descriptors out of what waits. Their number. */
static unsigned int take(struct wv_closing *one, int fds[AT_ONCE])
{
	unsigned int n = 0;

	pthread_mutex_lock(&one->closer->lock);
	for (; n < AT_ONCE && one->first != NO_FD; n++) {
		fds[n] = one->first;
		one->first = one->closer->next[fds[n]];
	}
	pthread_mutex_unlock(&one->closer->lock);
	return n;
}

static void close_some(struct wv_work *work)
{
	struct wv_closing *one = (struct wv_closing *)work;
	struct wv_closer *c = one->closer;
	int fds[AT_ONCE];
	unsigned int n = take(one, fds);

	for (unsigned int i = 0; i < n; i++) {
		atomic_store(&one->since_us, wv_steady_clock());
		close(fds[i]);
	}
	atomic_store(&one->since_us, IDLE);
	pthread_mutex_lock(&c->lock);
	one->n -= n;
	c->n -= n;
	if (one->n) {
		wv_line_give(c->line, work); /* whoever was served last is last */
	} else if (one != c->common) {
		TAILQ_REMOVE(&c->all, one, link);
		free(one);
	}
	pthread_mutex_unlock(&c->lock);
}

static int *new_table(void)
{
	struct rlimit files = {.rlim_cur = WV_MOST_FDS};

	getrlimit(RLIMIT_NOFILE, &files);
	return calloc(files.rlim_cur < WV_MOST_FDS ? files.rlim_cur : WV_MOST_FDS, sizeof(int));
}

static struct wv_closing *new_closing(struct wv_closer *c, uid_t uid, uint64_t container)
{
	struct wv_closing *one = malloc(sizeof(*one));

	if (!one)
		return NULL;
	*one = (struct wv_closing){
	    .work = {.run = close_some},
	    .closer = c,
	    .uid = uid,
	    .container = container,
	    .first = NO_FD,
	    .last = NO_FD,
	    .since_us = IDLE,
	};
	TAILQ_INSERT_TAIL(&c->all, one, link);
	return one;
}

int wv_closer_start(struct wv_closer *c, struct wv_workers *workers)
{
	static const struct wv_line_options options = {
	    .own = 1, .most = WV_CLOSERS, .priority = WV_PRIORITY_WORK};
	int err = -ENOMEM;

	pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->all);
	c->next = new_table();
	if (c->next)
		c->common = new_closing(c, (uid_t)-1, 0);
	if (c->common)
		err = wv_line_open(workers, &options, &c->line);
	if (err) {
		free(c->common);
		free(c->next);
		c->next = NULL;
	}
	return err;
}

unsigned int wv_closer_stop(struct wv_closer *c)
{
	struct wv_line *line = c->line; /* workers give themselves until the end */
	unsigned int left;

	if (!c->next)
		return 0;
	left = wv_line_close(&line, WV_LINE_PATIENCE_US);
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

	TAILQ_FOREACH (one, &c->all, link)
		if (one->uid == tenant->uid && one->container == tenant->container)
			return one;
	return NULL;
}

static void append_one(struct wv_closer *c, struct wv_closing *one, int fd)
{
	c->next[fd] = NO_FD;
	if (one->first == NO_FD)
		one->first = fd;
	else
		c->next[one->last] = fd;
	one->last = fd;
}

static void append(struct wv_closer *c, struct wv_closing *one, const int *fds, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		append_one(c, one, fds[i]);
	if (!one->n)
		wv_line_give(c->line, &one->work);
	one->n += n;
	c->n += n;
}

void wv_closer_give_all(struct wv_closer *c, const struct wv_tenant *tenant, const int *fds,
			unsigned int n)
{
	struct wv_closing *one;

	if (!n)
		return;
	pthread_mutex_lock(&c->lock);
	one = find(c, tenant);
	if (!one)
		one = new_closing(c, tenant->uid, tenant->container);
	append(c, one ? one : c->common, fds, n);
	pthread_mutex_unlock(&c->lock);
}

void wv_closer_give(struct wv_closer *c, const struct wv_tenant *tenant, int fd)
{
	wv_closer_give_all(c, tenant, &fd, 1);
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
	held_up = one && one->n > HELD_UP_FDS &&
		  wv_steady_clock() - HELD_UP_US > atomic_load(&one->since_us);
	pthread_mutex_unlock(&c->lock);
	return held_up;
}

bool wv_closer_is_full(struct wv_closer *c, const struct wv_tenant *tenant)
{
	const struct wv_closing *one;
	bool full;

	pthread_mutex_lock(&c->lock);
	one = find(c, tenant);
	full = one && one->n > wv_share_limit(c->max_fds, c->n - one->n);
	pthread_mutex_unlock(&c->lock);
	return full;
}
