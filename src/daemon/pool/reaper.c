/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/reaper.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/thread.h"

#include <errno.h>
#include <sys/eventfd.h>

/* Called with the lock held. */
static struct wv_pooled_lease *take(struct wv_ended_leases *list)
{
	struct wv_pooled_lease *lease = SLIST_FIRST(list);

	if (lease)
		SLIST_REMOVE_HEAD(list, link);
	return lease;
}

/* Called with the lock held. The next lease to close; NULL: the thread is to end. */
static struct wv_pooled_lease *await(struct wv_reaper *r)
{
	while (SLIST_EMPTY(&r->waiting) && !r->stopping)
		pthread_cond_wait(&r->changed, &r->lock);
	return take(&r->waiting);
}

static void *end(void *arg)
{
	struct wv_reaper *r = arg;
	struct wv_pooled_lease *lease;

	pthread_mutex_lock(&r->lock);
	while ((lease = await(r))) {
		pthread_mutex_unlock(&r->lock);
		wv_pooled_lease_close(lease);
		pthread_mutex_lock(&r->lock);
		SLIST_INSERT_HEAD(&r->ended, lease, link);
		r->n--;
		eventfd_write(r->closed_fd, 1);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void release_ended(struct wv_reaper *r)
{
	struct wv_ended_leases ended;
	struct wv_pooled_lease *lease;

	pthread_mutex_lock(&r->lock);
	ended = r->ended;
	SLIST_INIT(&r->ended);
	pthread_mutex_unlock(&r->lock);
	while ((lease = take(&ended)))
		wv_pooled_lease_free(lease);
}

static int on_closed(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_reaper *r = data;
	eventfd_t n;

	(void)source;
	(void)events;
	eventfd_read(fd, &n); /* before the list, so that a lease closed from now on is seen */
	release_ended(r);
	r->closed(r->arg);
	return 0;
}

static int start_threads(struct wv_reaper *r)
{
	int err = 0;

	while (r->n_threads < WV_REAPERS && !err) {
		err = wv_thread_start(&r->threads[r->n_threads], end, r);
		if (!err)
			r->n_threads++;
	}
	return err;
}

static int watch(struct wv_reaper *r)
{
	int err = sd_event_add_io(r->event, &r->source, r->closed_fd, EPOLLIN, on_closed, r);

	return err < 0 ? err : sd_event_source_set_priority(r->source, WV_PRIORITY_RESULTS);
}

int wv_reaper_start(struct wv_reaper *r)
{
	int err;

	r->closed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->closed_fd < 0)
		return -errno;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	err = start_threads(r);
	if (!r->n_threads)
		close(r->closed_fd);
	if (err >= 0)
		err = watch(r);
	if (err < 0)
		wv_reaper_stop(r);
	return err;
}

void wv_reaper_stop(struct wv_reaper *r)
{
	if (!r->n_threads)
		return;
	r->source = sd_event_source_disable_unref(r->source);
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	while (r->n_threads)
		pthread_join(r->threads[--r->n_threads], NULL);
	release_ended(r);
	close(r->closed_fd);
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
