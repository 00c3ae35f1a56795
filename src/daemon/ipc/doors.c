/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/doors.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/ipc/user_socket.h"
#include "daemon/loop/loop.h"
#include "daemon/tenants/tenant.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

/* The loop's time after a knock in which doors come no sooner than messages. */
#define PAUSE_US 1000

/* The first to connect after a pause need not wait for all messages that are there already. */
static void end_pause(struct wv_doors *d)
{
	struct wv_door *door;

	LIST_FOREACH (door, &d->list, link)
		sd_event_source_set_priority(door->source, WV_PRIORITY_NEWCOMERS);
}

/*
 * A post source waits its turn, from the knock on. A deferred one, which is pending from its
 * creation on, would come before everything else that waits: source_set_pending() of sd-event.c.
 */
static int on_clients_served(sd_event_source *source, void *data)
{
	(void)source;
	end_pause(data);
	return 0;
}

/* Before each iteration of the loop, until then: there may be very many messages. */
static int before_iteration(sd_event_source *source, void *data)
{
	struct wv_doors *d = data;

	if (wv_cpu_clock() - d->knock_us < PAUSE_US)
		return 0;
	end_pause(d);
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

static int on_connection(sd_event_source *source, int listen_fd, uint32_t events, void *data)
{
	struct wv_door *door = data;
	struct wv_doors *d = door->all;

	(void)events;
	sd_event_source_set_priority(source, WV_PRIORITY_CLIENTS);
	sd_event_source_set_enabled(d->served_source, SD_EVENT_ONESHOT);
	d->answered = door;
	d->knock(d->arg, listen_fd, door == &d->administrator);
	d->answered = NULL;
	d->knock_us = wv_cpu_clock();
	return 0;
}

static int open_door(struct wv_doors *d, struct wv_door *door, int fd)
{
	int err = sd_event_add_io(d->event, &door->source, fd, EPOLLIN, on_connection, door);

	if (err < 0)
		return err;
	door->all = d;
	door->fd = fd;
	LIST_INSERT_HEAD(&d->list, door, link);
	return 0;
}

static void close_door(struct wv_door *door)
{
	if (door->source)
		LIST_REMOVE(door, link);
	if (door->all && door->all->answered == door)
		door->all->answered = NULL;
	door->source = sd_event_source_disable_unref(door->source);
}

int wv_doors_start(struct wv_doors *d, int listen_fd, int admin_fd)
{
	int err = open_door(d, &d->common, listen_fd);

	if (!err && admin_fd >= 0)
		err = open_door(d, &d->administrator, admin_fd);
	if (!err)
		err = sd_event_add_post(d->event, &d->served_source, on_clients_served, d);
	if (err >= 0)
		err = sd_event_source_set_prepare(d->served_source, before_iteration);
	if (err >= 0)
		err = sd_event_source_set_enabled(d->served_source, SD_EVENT_OFF);
	return err < 0 ? err : sd_event_source_set_priority(d->served_source, WV_PRIORITY_CLIENTS);
}

void wv_doors_stop(struct wv_doors *d)
{
	while (!LIST_EMPTY(&d->list))
		close_door(LIST_FIRST(&d->list));
	d->served_source = sd_event_source_disable_unref(d->served_source);
	d->own = false;
}

static bool may_have(const struct wv_doors *d, const struct wv_tenant *tenant)
{
	const struct wv_door *door;
	unsigned int own = 0;

	LIST_FOREACH (door, &d->list, link)
		own += door->tenant == tenant;
	return d->own && own < wv_share_limit(d->max_own, d->n_own - own);
}

/*
 * The common door has to do. If it is not for a lack that passes, for example on a file system
 * without access control lists, no other user is tried.
 */
static void note_failure(struct wv_doors *d, uid_t uid, int err)
{
	d->own = err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOSPC;
	if (wv_log_allowed(&d->failure_limit, wv_now(d->event)))
		wv_log(WV_NOTICE, "user %u gets no socket of its own beside %s: %s", uid, d->socket,
		       strerror(-err));
}

void wv_doors_add(struct wv_doors *d, struct wv_user *user)
{
	struct wv_door *door;
	int fd, err;

	if (user->door || !user->n_recipes || !may_have(d, user->tenant))
		return;
	door = calloc(1, sizeof(*door));
	fd = door ? wv_user_socket_listen(d->socket, user->uid) : -ENOMEM;
	err = fd < 0 ? fd : open_door(d, door, fd);
	if (!err) {
		user->door = door;
		door->tenant = user->tenant;
		d->n_own++;
		return;
	}
	note_failure(d, user->uid, err);
	if (fd >= 0)
		close(fd);
	free(door);
}

void wv_doors_remove(struct wv_doors *d, struct wv_user *user)
{
	if (!user->door)
		return;
	close_door(user->door);
	close(user->door->fd);
	wv_user_socket_remove(d->socket, user->uid);
	free(user->door);
	user->door = NULL;
	d->n_own--;
}

void wv_doors_let_in(struct wv_doors *d, bool on)
{
	struct wv_door *door;

	LIST_FOREACH (door, &d->list, link)
		sd_event_source_set_enabled(door->source, on ? SD_EVENT_ON : SD_EVENT_OFF);
}
