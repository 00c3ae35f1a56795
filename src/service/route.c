/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/route.h"

#include "base/base.h"
#include "service/daemon_socket.h"

#include <errno.h>
#include <pthread.h>
#include <sys/queue.h>

struct wv_service_route {
	LIST_ENTRY(wv_service_route) link;
	int sock; /* -1: of no use any more */
	uint64_t cookie;
	bool is_taken;
	unsigned int n_conns; /* that were asked for here, and last */
	uint64_t count;	      /* of questions */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks = PTHREAD_ONCE_INIT;
static LIST_HEAD(, wv_service_route) all = LIST_HEAD_INITIALIZER(all);

/* The program may have closed the socket, and then its number may be that of another file. */
static bool is_ours(const struct wv_service_route *route)
{
	return route->sock >= 0 && wv_service_cookie(route->sock) == route->cookie;
}

static void close_route(struct wv_service_route *route)
{
	if (is_ours(route))
		close(route->sock);
	route->sock = -1;
}

/* With the lock. */
static void free_unused(struct wv_service_route *route)
{
	if (route->sock >= 0 || route->is_taken || route->n_conns)
		return;
	LIST_REMOVE(route, link);
	free(route);
}

/* What came after it was of interest: the ends of connections, and answers that were late. */
static void drain(struct wv_service_route *route)
{
	struct wv_service_note note;
	int err;

	do
		err = is_ours(route) ? wv_service_hear(route->sock, &note) : -EBADF;
	while (!err);
	if (err != -EAGAIN)
		close_route(route);
}

static struct wv_service_route *find_idle(void)
{
	struct wv_service_route *route, *next;

	for (route = LIST_FIRST(&all); route; route = next) {
		next = LIST_NEXT(route, link);
		if (route->is_taken)
			continue;
		drain(route);
		if (route->sock >= 0)
			return route;
		free_unused(route);
	}
	return NULL;
}

static int open_route(struct wv_service_route **route)
{
	wv_auto_fd sock = wv_service_socket();

	if (sock < 0)
		return sock;
	*route = calloc(1, sizeof(**route));
	if (!*route)
		return -ENOMEM;
	(*route)->cookie = wv_service_cookie(sock);
	(*route)->sock = wv_steal_fd(&sock);
	LIST_INSERT_HEAD(&all, *route, link);
	return 0;
}

/* A child has none of its parent's connections to the daemon. */
static void in_child(void)
{
	struct wv_service_route *route;

	LIST_FOREACH (route, &all, link) {
		close_route(route);
		route->is_taken = false;
	}
	pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

int wv_service_route_take(struct wv_service_route **route, bool fresh)
{
	int err = 0;

	pthread_once(&forks, watch_forks);
	pthread_mutex_lock(&lock);
	*route = fresh ? NULL : find_idle();
	if (!*route)
		err = open_route(route);
	if (!err)
		(*route)->is_taken = true;
	pthread_mutex_unlock(&lock);
	return err;
}

void wv_service_route_put(struct wv_service_route *route, int err)
{
	pthread_mutex_lock(&lock);
	route->is_taken = false;
	if (err)
		close_route(route);
	free_unused(route);
	pthread_mutex_unlock(&lock);
}

static void say_gone(const struct wv_service_route *route, uint64_t number)
{
	if (is_ours(route))
		wv_service_say(route->sock,
			       &(struct wv_service_note){.word = WV_SERVICE_GONE, .from = number});
}

int wv_service_route_ask(struct wv_service_route *route, struct wv_service_note *note,
			 int64_t deadline)
{
	uint64_t number = ++route->count;
	int err;

	note->from = number;
	err = is_ours(route) ? wv_service_say(route->sock, note) : -EBADF;
	while (!err) {
		err = wv_service_await(route->sock, deadline);
		if (!err)
			err = wv_service_hear(route->sock, note);
		if (!err && note->number == number && note->word != WV_SERVICE_GONE)
			return 0;
		if (err == -EAGAIN)
			err = 0;
	}
	if (err == -ETIMEDOUT)
		say_gone(route, number);
	return err;
}

void wv_service_route_keep(struct wv_service_route *route)
{
	pthread_mutex_lock(&lock);
	route->n_conns++;
	pthread_mutex_unlock(&lock);
}

void wv_service_route_leave(struct wv_service_route *route, uint64_t number)
{
	pthread_mutex_lock(&lock);
	say_gone(route, number);
	route->n_conns--;
	if (!route->is_taken)
		drain(route);
	free_unused(route);
	pthread_mutex_unlock(&lock);
}
