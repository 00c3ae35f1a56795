/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/news.h"

#include "preload/client/daemon_connection.h"

#include <errno.h>
#include <time.h>

/* A recording follows a program this long after its first connection, and for so many objects. */
#define FOLLOW_S       10
#define FOLLOW_OBJECTS 64

/*
 * A recording is sent again once this part of it is new: many queue pairs that are connected one by
 * one cause few messages.
 */
#define NEW_PART 8

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

static bool is_worth_telling(const struct wv_context *c)
{
	if (c->mode == WV_RECORDING)
		return c->stopped || c->unsent * NEW_PART >= c->record.cmdlog->n_steps;
	return c->unsent;
}

void wv_news_gather(struct wv_context *c)
{
	if (c->sock < 0)
		return;
	c->due = c->due || !c->connected || is_worth_telling(c);
	if (!c->connected && c->mode == WV_RECORDING)
		c->connected_s = now_s();
	c->connected = true;
}

static void send_record(struct wv_context *c, bool more)
{
	struct wv_msg_record *record = (void *)c->message;

	if (c->removed) { /* other programs do not end here */
		c->stopped = true;
		return;
	}
	record->provider = c->provider;
	record->more = more;
	wv_client_send_record(c->sock, record);
}

static void send_report(struct wv_context *c, bool more)
{
	c->report.more = more;
	c->report.spares = __atomic_load_n(&c->spares, __ATOMIC_RELAXED);
	wv_client_send_report(c->sock, &c->report, &c->lease);
}

/* Sends the recording or the report by no other system call than write(). */
static void send_news(struct wv_context *c, bool more)
{
	if (c->mode == WV_RECORDING && c->unsent)
		send_record(c, more);
	else if (c->mode == WV_LEASED)
		send_report(c, more);
	c->unsent = 0;
	c->due = false;
}

static void send_more_or_settle(struct wv_context *c)
{
	if (c->mode == WV_RECORDING && c->stopped)
		wv_news_settle(c);
	else
		send_news(c, true);
}

bool wv_news_awaits_ready(const struct wv_context *c)
{
	return c->sock >= 0 && (c->mode == WV_RECORDING || c->report.diverged);
}

void wv_news_ready(struct wv_context *c)
{
	int saved = errno;

	if (wv_news_awaits_ready(c) && (c->due || is_worth_telling(c)))
		send_more_or_settle(c);
	errno = saved;
}

void wv_news_established(int fd)
{
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(fd);
	if (c) {
		wv_news_gather(c);
		wv_news_ready(c);
	}
	wv_unlock();
}

void wv_news_tell(struct wv_context *c)
{
	if (c->sock >= 0 && c->due)
		send_more_or_settle(c);
}

static bool has_new_spares(const struct wv_context *c)
{
	return c->report.spares != __atomic_load_n(&c->spares, __ATOMIC_RELAXED);
}

void wv_news_spares(struct wv_context *c)
{
	int saved = errno;

	if (c->sock >= 0 && c->mode == WV_LEASED && has_new_spares(c))
		send_news(c, true);
	errno = saved;
}

/* Whether the daemon knows already that the program has adopted all of its lease. */
static bool is_all_told(const struct wv_context *c)
{
	return c->mode == WV_LEASED && c->report.msg.bytes && !c->report.unused && !c->unsent &&
	       !has_new_spares(c);
}

/* The end of the connection would say that the pair's program has ended. */
static void let_go(struct wv_context *c)
{
	if (!c->pair.came) {
		wv_fd_close_private(&c->sock);
		return;
	}
	c->pair.sock = c->sock;
	c->sock = -1;
}

void wv_news_settle(struct wv_context *c)
{
	int saved = errno;

	if (c->sock < 0)
		return;
	if (!is_all_told(c))
		send_news(c, false);
	let_go(c);
	c->stopped |= c->mode == WV_RECORDING;
	errno = saved;
}

void wv_news_settle_at_exit(struct wv_context *c)
{
	/* A child that writes, even what is there, copies a page for each context of its parent. */
	if (c->sock < 0)
		return;
	if (!is_all_told(c))
		send_news(c, false);
	c->sock = -1;
}

void wv_news_recorded(struct wv_context *c, const struct wv_command_row *row, int error)
{
	/* A server that takes its connections down may be killed before it closes the device. */
	if (row->class_ == WV_DESTROY && c->connected && c->unsent && c->sock >= 0)
		send_news(c, true);
	if (row->class_ == WV_DESTROY || row->class_ == WV_QUERY)
		return;
	c->unsent++;
	c->late_objects += c->connected && row->class_ == WV_CREATE && !error;
}

bool wv_news_is_enough(const struct wv_context *c)
{
	if (c->sock < 0 || c->record.full || c->late_objects == FOLLOW_OBJECTS)
		return true;
	return c->connected && now_s() - c->connected_s > FOLLOW_S;
}
