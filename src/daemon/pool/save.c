/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/save.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <string.h>

#define MINUTE_US	 INT64_C(60000000)
#define SAVE_RETRY_US	 MINUTE_US
#define SAVE_COUNTERS_US (5 * MINUTE_US)

static int save(struct wv_saver *s, struct wv_recipe *recipe)
{
	int err = wv_store_save(s->store, recipe);

	if (err && err != -ENODEV) {
		wv_log(WV_WARNING,
		       "recipes cannot be saved in %s: %s; they are kept in memory: make room, or "
		       "correct --state-dir",
		       s->store->path, strerror(-err));
		s->retry_us = wv_now(s->event) + SAVE_RETRY_US;
		return err;
	}
	recipe->dirty = recipe->stale = false;
	return 0;
}

static struct wv_recipe *find_unsaved(struct wv_saver *s, bool also_stale)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s->catalog, user)
		wv_each_recipe (user, recipe)
			if (!recipe->refused && (recipe->dirty || (also_stale && recipe->stale)))
				return recipe;
	return NULL;
}

/* Losing counters in a crash does no harm, so they are saved only every few minutes. */
bool wv_save_one(struct wv_saver *s)
{
	int64_t now = wv_now(s->event);
	struct wv_recipe *recipe =
	    now < s->retry_us ? NULL : find_unsaved(s, now >= s->counters_us);

	if (recipe)
		return !save(s, recipe);
	if (now >= s->counters_us)
		s->counters_us = now + SAVE_COUNTERS_US;
	return false;
}

void wv_save_all(struct wv_saver *s)
{
	struct wv_recipe *recipe;

	while ((recipe = find_unsaved(s, true)))
		if (save(s, recipe))
			return;
}
