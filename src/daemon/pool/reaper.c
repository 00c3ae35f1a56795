/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/reaper.h"

#include "base/base.h"
#include "daemon/loop/thread.h"

/* The next lease to close; NULL: the thread is to end. */
static struct wv_pooled_lease *await(struct wv_reaper *r)
{
	struct wv_pooled_lease *lease;

	pthread_mutex_lock(&r->lock);
	while (SLIST_EMPTY(&r->waiting) && !r->stopping)
		pthread_cond_wait(&r->changed, &r->lock);
	lease = SLIST_FIRST(&r->waiting);
	if (lease)
		SLIST_REMOVE_HEAD(&r->waiting, link);
	pthread_mutex_unlock(&r->lock);
	return lease;
}

static void *end(void *arg)
{
	struct wv_reaper *r = arg;
	struct wv_pooled_lease *lease;

	while ((lease = await(r))) {
		wv_pooled_lease_free(lease);
		pthread_mutex_lock(&r->lock);
		r->n--;
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

int wv_reaper_start(struct wv_reaper *r)
{
	int err;

	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	err = wv_thread_start(&r->thread, end, r);
	r->running = !err;
	return err;
}

void wv_reaper_stop(struct wv_reaper *r)
{
	if (!r->running)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	r->running = false;
}

void wv_reaper_give(struct wv_reaper *r, struct wv_pooled_lease *lease)
{
	pthread_mutex_lock(&r->lock);
	SLIST_INSERT_HEAD(&r->waiting, lease, link);
	r->n++;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

unsigned int wv_reaper_busy(struct wv_reaper *r)
{
	unsigned int n;

	pthread_mutex_lock(&r->lock);
	n = r->n;
	pthread_mutex_unlock(&r->lock);
	return n;
}
