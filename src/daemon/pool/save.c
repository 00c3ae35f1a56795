/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/save.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define MINUTE_US	 INT64_C(60000000)
#define SAVE_RETRY_US	 MINUTE_US
#define SAVE_COUNTERS_US (5 * MINUTE_US)

/* Of a failure, further ones of which are not logged until the next attempt. */
static void note_unsaved(struct wv_saver *s, const struct wv_save_order *order)
{
	struct wv_recipe *recipe = wv_catalog_find(s->catalog, order->uid, order->id);
	int64_t now = wv_now(s->event);

	if (recipe)
		recipe->dirty = true;
	if (now < s->retry_us)
		return;
	wv_log(WV_WARNING,
	       "recipes cannot be saved in %s: %s; they are kept in memory: make room, or "
	       "correct --state-dir",
	       s->store->path, strerror(-order->err));
	s->retry_us = now + SAVE_RETRY_US;
}

static void take_results(struct wv_saver *s)
{
	struct wv_save_order *order;

	while ((order = wv_save_thread_done(s->thread))) {
		if (order->err && order->copy)
			note_unsaved(s, order);
		else if (order->err)
			wv_log(WV_WARNING,
			       "recipe %016llx of user %u cannot be removed from %s: %s",
			       (unsigned long long)order->id, order->uid, s->store->path,
			       strerror(-order->err));
		wv_save_order_free(order);
	}
}

static int on_done(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct wv_saver *s = data;

	(void)source;
	(void)fd;
	(void)events;
	take_results(s);
	s->done(s->arg);
	return 0;
}

int wv_saver_start(struct wv_saver *s)
{
	int err = wv_save_thread_start(&s->thread, s->store);

	if (!err)
		err = sd_event_add_io(s->event, &s->source, wv_save_thread_fd(s->thread), EPOLLIN,
				      on_done, s);
	return err < 0 ? err : sd_event_source_set_priority(s->source, WV_PRIORITY_RESULTS);
}

static bool is_unsaved(const struct wv_recipe *recipe, bool also_stale)
{
	if (recipe->refused)
		return recipe->stored;
	return recipe->dirty || (also_stale && recipe->stale);
}

static struct wv_recipe *find_unsaved(struct wv_saver *s, bool also_stale)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s->catalog, user)
		wv_each_recipe (user, recipe)
			if (is_unsaved(recipe, also_stale))
				return recipe;
	return NULL;
}

static int order(struct wv_saver *s, const struct wv_recipe *recipe)
{
	if (s->store->dir < 0)
		return 0;
	return recipe->refused ? wv_save_thread_remove(s->thread, recipe->uid, recipe->id)
			       : wv_save_thread_save(s->thread, recipe);
}

/* Makes the disk agree with @recipe. 0, -EAGAIN or -ENOMEM. */
static int order_save(struct wv_saver *s, struct wv_recipe *recipe)
{
	int err = order(s, recipe);

	if (err)
		return err;
	recipe->dirty = recipe->stale = false;
	recipe->stored = !recipe->refused && s->store->dir >= 0;
	return 0;
}

/* Losing counters in a crash does no harm, so they are saved only every few minutes. */
bool wv_save_one(struct wv_saver *s)
{
	int64_t now = wv_now(s->event);
	struct wv_recipe *recipe =
	    now < s->retry_us ? NULL : find_unsaved(s, now >= s->counters_us);

	if (recipe)
		return !order_save(s, recipe);
	if (now >= s->counters_us)
		s->counters_us = now + SAVE_COUNTERS_US;
	return false;
}

void wv_save_drop(struct wv_saver *s, const struct wv_recipe *recipe)
{
	if (recipe->stored && wv_save_thread_remove(s->thread, recipe->uid, recipe->id))
		wv_log(WV_WARNING, "recipe %016llx of user %u stays in %s: %s",
		       (unsigned long long)recipe->id, recipe->uid, s->store->path,
		       strerror(ENOMEM));
}

static unsigned int count_unsaved(const struct wv_saver *s)
{
	struct wv_user *user;
	struct wv_recipe *recipe;
	unsigned int n = 0;

	wv_each_user (s->catalog, user)
		wv_each_recipe (user, recipe)
			n += is_unsaved(recipe, false);
	return n;
}

static int64_t left_us(int64_t until_us)
{
	int64_t now = wv_steady_clock();

	return until_us > now ? until_us - now : 0;
}

/* Once a save has failed, only the orders that were given are waited for. */
static void save_all(struct wv_saver *s, int64_t until_us)
{
	struct pollfd done = {.fd = wv_save_thread_fd(s->thread), .events = POLLIN};
	struct wv_recipe *recipe;

	s->retry_us = 0;
	do {
		while (!s->retry_us && (recipe = find_unsaved(s, true)) && !order_save(s, recipe))
			;
		if (!wv_save_thread_busy(s->thread))
			return;
		poll(&done, 1, (int)(left_us(until_us) / 1000));
		take_results(s);
	} while (left_us(until_us));
}

void wv_saver_stop(struct wv_saver *s, int64_t timeout_us)
{
	int64_t until_us = wv_steady_clock() + timeout_us;
	unsigned int n;

	s->source = sd_event_source_disable_unref(s->source);
	if (!s->thread)
		return;
	save_all(s, until_us);
	n = count_unsaved(s) + wv_save_thread_busy(s->thread);
	wv_save_thread_stop(s->thread, left_us(until_us));
	s->thread = NULL;
	if (n)
		wv_log(WV_WARNING, "recipes not saved in %s: %u: their programs record again",
		       s->store->path, n);
}
