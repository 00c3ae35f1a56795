/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/loop/errands.h"

#include "daemon/loop/loop.h"
#include "daemon/loop/thread.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 2

static struct wv_errand *take(struct wv_errand_list *list)
{
	struct wv_errand *errand = STAILQ_FIRST(list);

	if (errand)
		STAILQ_REMOVE_HEAD(list, link);
	return errand;
}

/* Called with the lock held. */
static void run_one(struct wv_errands *e, struct wv_errand *errand)
{
	pthread_mutex_unlock(&e->lock);
	errand->run(errand);
	pthread_mutex_lock(&e->lock);
	STAILQ_INSERT_TAIL(&e->finished, errand, link);
	eventfd_write(e->finished_fd, 1);
}

static void *work(void *arg)
{
	struct wv_errands *e = arg;
	struct wv_errand *errand;

	pthread_mutex_lock(&e->lock);
	while (!e->stopping) {
		errand = take(&e->waiting);
		if (errand)
			run_one(e, errand);
		else
			pthread_cond_wait(&e->changed, &e->lock);
	}
	e->running = false;
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

static struct wv_errand *next_finished(struct wv_errands *e)
{
	struct wv_errand *errand;

	pthread_mutex_lock(&e->lock);
	errand = take(&e->finished);
	pthread_mutex_unlock(&e->lock);
	return errand;
}

static int on_finished(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_errands *e = data;
	struct wv_errand *errand;
	eventfd_t count;

	(void)source;
	(void)events;
	eventfd_read(fd, &count);
	while ((errand = next_finished(e)))
		errand->done(errand);
	return 0;
}

static int start_thread(struct wv_errands *e)
{
	pthread_t thread;
	int err;

	e->running = true;
	err = wv_thread_start(&thread, work, e);
	if (err)
		e->running = false;
	else
		pthread_detach(thread);
	return err;
}

int wv_errands_start(struct wv_errands *e)
{
	pthread_condattr_t steady;
	int err;

	STAILQ_INIT(&e->waiting);
	STAILQ_INIT(&e->finished);
	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&e->changed, &steady);
	pthread_condattr_destroy(&steady);
	e->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->finished_fd < 0)
		return -errno;
	err = sd_event_add_io(e->event, &e->source, e->finished_fd, EPOLLIN, on_finished, e);
	if (err >= 0)
		err = sd_event_source_set_priority(e->source, WV_PRIORITY_PEERS);
	if (err >= 0)
		err = start_thread(e);
	if (err >= 0)
		return 0;
	e->source = sd_event_source_disable_unref(e->source);
	close(e->finished_fd);
	return err;
}

void wv_errands_give(struct wv_errands *e, struct wv_errand *errand)
{
	pthread_mutex_lock(&e->lock);
	STAILQ_INSERT_TAIL(&e->waiting, errand, link);
	pthread_cond_signal(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

/* True: the thread has ended. */
static bool end_thread(struct wv_errands *e)
{
	struct timespec until;
	bool ended;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&e->lock);
	e->stopping = true;
	pthread_cond_broadcast(&e->changed);
	while (e->running && !err)
		err = pthread_cond_timedwait(&e->changed, &e->lock, &until);
	ended = !e->running;
	pthread_mutex_unlock(&e->lock);
	return ended;
}

bool wv_errands_stop(struct wv_errands *e)
{
	struct wv_errand *errand;
	bool ended;

	if (!e->source)
		return true;
	ended = end_thread(e);
	while ((errand = next_finished(e)))
		errand->done(errand);
	while ((errand = take(&e->waiting))) /* the thread takes no more */
		errand->done(errand);
	e->source = sd_event_source_disable_unref(e->source);
	if (ended)
		close(e->finished_fd);
	return ended;
}
