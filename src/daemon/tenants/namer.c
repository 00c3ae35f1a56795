/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/namer.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/thread.h"
#include "daemon/tenants/container.h"

#include <errno.h>
#include <sys/eventfd.h>

static struct wv_newcomer *take(struct wv_newcomers *list)
{
	struct wv_newcomer *one = STAILQ_FIRST(list);

	if (one)
		STAILQ_REMOVE_HEAD(list, link);
	return one;
}

/* The next one, taken out of the list; NULL: the thread is to end. */
static struct wv_newcomer *await(struct wv_namer *n)
{
	struct wv_newcomer *one = NULL;

	pthread_mutex_lock(&n->lock);
	while (!n->stopping && !(one = take(&n->waiting)))
		pthread_cond_wait(&n->changed, &n->lock);
	pthread_mutex_unlock(&n->lock);
	return one;
}

static void *work(void *arg)
{
	struct wv_namer *n = arg;
	struct wv_newcomer *one;

	while ((one = await(n))) {
		one->container = wv_container_of(one->fd, one->pid);
		pthread_mutex_lock(&n->lock);
		STAILQ_INSERT_TAIL(&n->found, one, link);
		pthread_mutex_unlock(&n->lock);
		eventfd_write(n->found_fd, 1);
	}
	return NULL;
}

static struct wv_newcomer *next_found(struct wv_namer *n)
{
	struct wv_newcomer *one;

	pthread_mutex_lock(&n->lock);
	one = take(&n->found);
	n->n -= one != NULL;
	pthread_mutex_unlock(&n->lock);
	return one;
}

static int on_found(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_namer *n = data;
	struct wv_newcomer *one;
	eventfd_t count;

	(void)source;
	(void)events;
	eventfd_read(fd, &count);
	while ((one = next_found(n))) {
		n->named(n->arg, one->fd, one->uid, one->container);
		free(one);
	}
	n->settled(n->arg);
	return 0;
}

static int watch(struct wv_namer *n)
{
	int err = sd_event_add_io(n->event, &n->source, n->found_fd, EPOLLIN, on_found, n);

	return err < 0 ? err : sd_event_source_set_priority(n->source, WV_PRIORITY_CLIENTS);
}

int wv_namer_start(struct wv_namer *n)
{
	int err;

	STAILQ_INIT(&n->waiting);
	STAILQ_INIT(&n->found);
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->changed, NULL);
	n->found_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (n->found_fd < 0)
		return -errno;
	err = watch(n);
	if (err >= 0)
		err = wv_thread_start(&n->thread, work, n);
	if (err >= 0)
		return 0;
	n->source = sd_event_source_disable_unref(n->source);
	close(n->found_fd);
	return err;
}

static void close_all(struct wv_newcomers *list)
{
	struct wv_newcomer *one;

	while ((one = take(list))) {
		close(one->fd);
		free(one);
	}
}

void wv_namer_stop(struct wv_namer *n)
{
	if (!n->source)
		return;
	pthread_mutex_lock(&n->lock);
	n->stopping = true;
	pthread_cond_signal(&n->changed);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	close_all(&n->waiting);
	close_all(&n->found);
	n->source = sd_event_source_disable_unref(n->source);
	close(n->found_fd);
}

bool wv_namer_give(struct wv_namer *n, int fd, uid_t uid, pid_t pid)
{
	struct wv_newcomer *one = malloc(sizeof(*one));
	bool room;

	if (!one)
		return false;
	*one = (struct wv_newcomer){.fd = fd, .uid = uid, .pid = pid};
	pthread_mutex_lock(&n->lock);
	room = n->n < WV_NAMER_MOST;
	if (room) {
		STAILQ_INSERT_TAIL(&n->waiting, one, link);
		n->n++;
		pthread_cond_signal(&n->changed);
	}
	pthread_mutex_unlock(&n->lock);
	if (!room)
		free(one);
	return room;
}
