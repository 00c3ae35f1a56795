#include "daemon/pool/reaper.h"

#include "base/base.h"
#include "daemon/pool/thread.h"

/* The next one, or NULL: the end. */
static struct wv_pooled_lease *await(struct wv_reaper *e)
{
	struct wv_pooled_lease *ready;

	pthread_mutex_lock(&e->lock);
	while (SLIST_EMPTY(&e->waiting) && !e->stopping)
		pthread_cond_wait(&e->changed, &e->lock);
	ready = SLIST_FIRST(&e->waiting);
	if (ready)
		SLIST_REMOVE_HEAD(&e->waiting, link);
	pthread_mutex_unlock(&e->lock);
	return ready;
}

static void *end(void *arg)
{
	struct wv_reaper *e = arg;
	struct wv_pooled_lease *ready;

	while ((ready = await(e))) {
		wv_pooled_lease_free(ready);
		pthread_mutex_lock(&e->lock);
		e->n--;
		pthread_mutex_unlock(&e->lock);
	}
	return NULL;
}

int wv_reaper_start(struct wv_reaper *e)
{
	int err;

	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->changed, NULL);
	err = wv_thread_start(&e->thread, end, e);
	e->running = !err;
	return err;
}

void wv_reaper_stop(struct wv_reaper *e)
{
	if (!e->running)
		return;
	pthread_mutex_lock(&e->lock);
	e->stopping = true;
	pthread_cond_signal(&e->changed);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->thread, NULL);
	e->running = false;
}

void wv_reaper_give(struct wv_reaper *e, struct wv_pooled_lease *ready)
{
	pthread_mutex_lock(&e->lock);
	SLIST_INSERT_HEAD(&e->waiting, ready, link);
	e->n++;
	pthread_cond_signal(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

unsigned int wv_reaper_busy(struct wv_reaper *e)
{
	unsigned int n;

	pthread_mutex_lock(&e->lock);
	n = e->n;
	pthread_mutex_unlock(&e->lock);
	return n;
}
