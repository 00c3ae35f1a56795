/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/route.h"

#include "base/base.h"
#include "base/own_fd.h"
#include "service/daemon_socket.h"

#include <errno.h>
#include <pthread.h>
#include <sys/queue.h>

struct wv_service_route {
	LIST_ENTRY(wv_service_route) link;
	int sock; /* -1: of no use any more */
	uint64_t cookie;
	bool is_taken;
	uint64_t count;		      /* of questions */
	struct wv_service_ends conns; /* that were asked for here, and last */
	struct wv_service_ends left;  /* that do not, and the daemon was not reading */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t forks = PTHREAD_ONCE_INIT;
static LIST_HEAD(, wv_service_route) all = LIST_HEAD_INITIALIZER(all);

/* The program may have closed the socket, and then its number may be that of another file. */
static bool is_ours(const struct wv_service_route *route)
{
	return route->sock >= 0 && wv_socket_cookie(route->sock) == route->cookie;
}

static void close_route(struct wv_service_route *route)
{
	if (is_ours(route))
		close(route->sock);
	route->sock = -1;
}

/* With the lock. */
static void say_left(struct wv_service_route *route)
{
	wv_service_say_left(is_ours(route) ? route->sock : -1, &route->left);
}

/* With the lock. */
static void free_unused(struct wv_service_route *route)
{
	if (route->sock >= 0 || route->is_taken || !LIST_EMPTY(&route->conns))
		return;
	say_left(route);
	LIST_REMOVE(route, link);
	free(route);
}

static void note_gone(struct wv_service_route *route, const struct wv_service_note *note)
{
	struct wv_service_conn_end *end;

	LIST_FOREACH (end, &route->conns, link)
		if (note->word == WV_SERVICE_GONE && end->number == note->number)
			end->is_gone = true;
}

/* Reads what came meanwhile: ends of connections, and answers that were late. With the lock. */
static void drain(struct wv_service_route *route)
{
	struct wv_service_note note;
	int err;

	while (!(err = is_ours(route) ? wv_service_hear(route->sock, &note) : -EBADF))
		note_gone(route, &note);
	if (err != -EAGAIN)
		close_route(route);
	say_left(route);
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
	(*route)->cookie = wv_socket_cookie(sock);
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

int wv_service_route_take(struct wv_service_route **route)
{
	int err = 0;

	pthread_once(&forks, watch_forks);
	pthread_mutex_lock(&lock);
	*route = find_idle();
	if (!*route)
		err = open_route(route);
	if (!err)
		(*route)->is_taken = true;
	pthread_mutex_unlock(&lock);
	return err;
}

bool wv_service_route_is_used(const struct wv_service_route *route)
{
	return route->count;
}

/* Whether nobody would miss @route, since there is another. With the lock. */
static bool is_dispensable(const struct wv_service_route *route)
{
	const struct wv_service_route *other;

	if (!LIST_EMPTY(&route->conns) || !LIST_EMPTY(&route->left))
		return false;
	LIST_FOREACH (other, &all, link)
		if (other != route && other->sock >= 0 && !other->is_taken)
			return true;
	return false;
}

void wv_service_route_put(struct wv_service_route *route, int err)
{
	pthread_mutex_lock(&lock);
	route->is_taken = false;
	if (wv_service_is_lost(err) || is_dispensable(route))
		close_route(route);
	free_unused(route);
	pthread_mutex_unlock(&lock);
}

/* Nobody waits for the answer to question @number any more. */
static void give_up(struct wv_service_route *route, uint64_t number)
{
	struct wv_service_conn_end *end = calloc(1, sizeof(*end));

	if (!end)
		return;
	end->number = number;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&route->left, end, link);
	say_left(route);
	pthread_mutex_unlock(&lock);
}

/* 0: *@note is the answer to question @number; -EAGAIN: not yet; or -errno. */
static int hear_answer(struct wv_service_route *route, struct wv_service_note *note,
		       uint64_t number, int64_t deadline)
{
	int err = wv_service_await(route->sock, deadline);

	if (!err)
		err = wv_service_hear(route->sock, note);
	if (err || (note->number == number && note->word != WV_SERVICE_GONE))
		return err;
	pthread_mutex_lock(&lock);
	note_gone(route, note);
	pthread_mutex_unlock(&lock);
	return -EAGAIN;
}

int wv_service_route_hear(struct wv_service_route *route, uint64_t number,
			  struct wv_service_note *note, int64_t deadline)
{
	int err;

	while ((err = hear_answer(route, note, number, deadline)) == -EAGAIN) {
	}
	return err;
}

int wv_service_route_ask(struct wv_service_route *route, struct wv_service_note *note,
			 int64_t deadline)
{
	uint64_t number = ++route->count;
	int err;

	note->from = number;
	err = is_ours(route) ? wv_service_say_until(route->sock, note, deadline) : -EBADF;
	if (err)
		return err;
	err = wv_service_route_hear(route, number, note, deadline);
	if (err == -ETIMEDOUT)
		give_up(route, number);
	return err;
}

void wv_service_route_keep(struct wv_service_route *route, struct wv_service_conn_end *end)
{
	pthread_mutex_lock(&lock);
	end->route = route;
	LIST_INSERT_HEAD(&route->conns, end, link);
	pthread_mutex_unlock(&lock);
}

bool wv_service_route_lasts(struct wv_service_conn_end *end)
{
	struct wv_service_route *route = end->route;
	bool lasts;

	pthread_mutex_lock(&lock);
	if (!route->is_taken)
		drain(route);
	lasts = is_ours(route) && !end->is_gone;
	pthread_mutex_unlock(&lock);
	return lasts;
}

void wv_service_route_leave(struct wv_service_conn_end *end)
{
	struct wv_service_route *route = end->route;

	pthread_mutex_lock(&lock);
	LIST_REMOVE(end, link);
	LIST_INSERT_HEAD(&route->left, end, link);
	if (route->is_taken)
		say_left(route);
	else
		drain(route);
	free_unused(route);
	pthread_mutex_unlock(&lock);
}
