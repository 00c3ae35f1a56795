/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/save.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MINUTE_US	 INT64_C(60000000)
#define SAVE_RETRY_US	 MINUTE_US
#define SAVE_COUNTERS_US (5 * MINUTE_US)

/* To write a recipe, or to remove its file. */
struct order {
	struct wv_work work; /* first */
	struct wv_saver *saver;
	struct wv_store *disk;
	struct wv_recipe *copy; /* to be written; NULL: the file is to be removed */
	uid_t uid;
	uint64_t id;
	int err; /* as of wv_store_save() or wv_store_remove(); -ECANCELED: neither was called */
};

static void free_order(struct order *order)
{
	if (order->copy)
		wv_recipe_free(order->copy);
	free(order);
}

static void free_disk(struct wv_store *disk)
{
	wv_store_close(disk);
	free(disk);
}

/* Runs in a worker. */
static void carry_out(struct wv_work *work)
{
	struct order *order = (struct order *)work;

	order->err = order->copy ? wv_store_save(order->disk, order->copy)
				 : wv_store_remove(order->disk, order->uid, order->id);
}

/* Runs in a worker: the saver did not wait for it. */
static void abandon(struct wv_work *work)
{
	struct order *order = (struct order *)work;

	free_disk(order->disk);
	free_order(order);
}

/* Logs that a recipe could not be saved, but no further failures before the next attempt. */
static void note_unsaved(struct wv_saver *s, const struct order *order)
{
	struct wv_recipe *recipe = wv_catalog_find(s->catalog, order->uid, order->id);
	int64_t now = wv_now(s->event);

	if (recipe)
		recipe->dirty = true;
	if (now < s->retry_us || order->err == -ECANCELED)
		return;
	wv_log(WV_WARNING,
	       "recipes cannot be saved in %s: %s; they are kept in memory: make room, or "
	       "correct --state-dir",
	       s->store->path, strerror(-order->err));
	s->retry_us = now + SAVE_RETRY_US;
}

static void done(struct wv_work *work)
{
	struct order *order = (struct order *)work;
	struct wv_saver *s = order->saver;

	if (order->err && order->copy)
		note_unsaved(s, order);
	else if (order->err)
		wv_log(WV_WARNING, "recipe %016llx of user %u cannot be removed from %s: %s",
		       (unsigned long long)order->id, order->uid, s->store->path,
		       strerror(-order->err));
	free_order(order);
}

static int make_disk(const struct wv_store *store, struct wv_store **disk)
{
	struct wv_store *d = malloc(sizeof(*d));

	if (!d)
		return -ENOMEM;
	*d = *store;
	if (store->dir >= 0)
		d->dir = fcntl(store->dir, F_DUPFD_CLOEXEC, 0);
	if (store->dir >= 0 && d->dir < 0) {
		free(d);
		return -errno;
	}
	*disk = d;
	return 0;
}

int wv_saver_start(struct wv_saver *s)
{
	const struct wv_line_options options = {
	    .own = 1,
	    .most = 1,
	    .priority = WV_PRIORITY_RESULTS,
	    .settled = s->done,
	    .arg = s->arg,
	};
	int err = make_disk(s->store, &s->disk);

	if (err)
		return err;
	err = wv_line_open(s->workers, &options, &s->line);
	if (err)
		free_disk(s->disk);
	return err;
}

static int give(struct wv_saver *s, const struct wv_recipe *recipe, struct wv_recipe *copy)
{
	struct order *order = malloc(sizeof(*order));

	if (!order)
		return -ENOMEM;
	*order = (struct order){
	    .work = {.run = carry_out, .done = done, .left = abandon},
	    .saver = s,
	    .disk = s->disk,
	    .copy = copy,
	    .uid = recipe->uid,
	    .id = recipe->id,
	    .err = -ECANCELED,
	};
	wv_line_give(s->line, &order->work);
	return 0;
}

/* 0; -EAGAIN if too many orders wait; or -ENOMEM. */
static int give_copy(struct wv_saver *s, const struct wv_recipe *recipe)
{
	struct wv_recipe *copy;
	int err;

	if (wv_line_busy(s->line) >= WV_MAX_SAVES)
		return -EAGAIN;
	copy = wv_recipe_copy(recipe);
	err = copy ? give(s, recipe, copy) : -ENOMEM;
	if (err && copy)
		wv_recipe_free(copy);
	return err;
}

static bool is_unsaved(const struct wv_recipe *recipe, bool also_stale)
{
	if (recipe->refused)
		return recipe->stored;
	return recipe->dirty || (also_stale && recipe->stale);
}

static struct wv_recipe *find_unsaved(struct wv_saver *s, bool also_stale)
{
	wv_each_recipe_of_all (s->catalog, recipe)
		if (is_unsaved(recipe, also_stale))
			return recipe;
	return NULL;
}

static int order(struct wv_saver *s, const struct wv_recipe *recipe)
{
	if (s->store->dir < 0)
		return 0;
	return recipe->refused ? give(s, recipe, NULL) : give_copy(s, recipe);
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
	if (recipe->stored && give(s, recipe, NULL))
		wv_log(WV_WARNING, "recipe %016llx of user %u stays in %s: %s",
		       (unsigned long long)recipe->id, recipe->uid, s->store->path,
		       strerror(ENOMEM));
}

static unsigned int count_unsaved(const struct wv_saver *s)
{
	unsigned int n = 0;

	wv_each_recipe_of_all (s->catalog, recipe)
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
	struct wv_recipe *recipe;

	s->retry_us = 0;
	do {
		while (!s->retry_us && (recipe = find_unsaved(s, true)) && !order_save(s, recipe))
			;
		if (!wv_line_busy(s->line))
			return;
		wv_line_await(s->line, left_us(until_us));
	} while (left_us(until_us));
}

void wv_saver_stop(struct wv_saver *s, int64_t timeout_us)
{
	int64_t until_us = wv_steady_clock() + timeout_us;
	unsigned int n;

	if (!s->line)
		return;
	save_all(s, until_us);
	n = count_unsaved(s) + wv_line_busy(s->line);
	if (!wv_line_close(&s->line, left_us(until_us)))
		free_disk(s->disk);
	if (n)
		wv_log(WV_WARNING, "recipes not saved in %s: %u: their programs record again",
		       s->store->path, n);
}
