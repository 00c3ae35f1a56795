/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/constants.h"

#include <stdlib.h>
#include <string.h>

/* Longer questions are not asked inside ibv_open_device(). */
#define MAX_QUESTION 64

static struct wv_constants *find(struct wv_all_constants *all, dev_t rdev)
{
	struct wv_constants *c;

	SLIST_FOREACH (c, all, link)
		if (c->rdev == rdev)
			return c;
	return NULL;
}

static struct wv_constants *make(struct wv_all_constants *all, dev_t rdev, uint32_t driver_id)
{
	struct wv_constants *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	c->rdev = rdev;
	wv_cmdlog_begin(&c->answers, c->memory, sizeof(c->memory), WV_LEASE, driver_id);
	SLIST_INSERT_HEAD(all, c, link);
	return c;
}

static bool is_short(struct wv_step *step)
{
	wv_each_attr (step, attr)
		if (attr->kind == WV_EQUAL && attr->len > MAX_QUESTION)
			return false;
	return true;
}

static bool is_known(struct wv_constants *c, const struct wv_step *step)
{
	wv_each_step (c->answers.cmdlog, known)
		if (known->bytes == step->bytes && !memcmp(known, step, step->bytes))
			return true;
	return false;
}

void wv_constants_learn(struct wv_all_constants *all, dev_t rdev, struct wv_cmdlog *lease)
{
	struct wv_constants *c = find(all, rdev);

	if (!c)
		c = make(all, rdev, lease->driver_id);
	wv_each_step (lease, step)
		if (c && step->class_ == WV_CONSTANT && is_short(step) && !is_known(c, step))
			wv_cmdlog_copy(&c->answers, step);
}

struct wv_cmdlog *wv_constants_of(struct wv_all_constants *all, dev_t rdev)
{
	struct wv_constants *c = find(all, rdev);

	return c && c->answers.cmdlog->n_steps ? c->answers.cmdlog : NULL;
}

void wv_constants_drop(struct wv_all_constants *all, dev_t rdev)
{
	struct wv_constants *c = find(all, rdev);

	if (!c)
		return;
	SLIST_REMOVE(all, c, wv_constants, link);
	free(c);
}

void wv_constants_drop_all(struct wv_all_constants *all)
{
	while (!SLIST_EMPTY(all))
		wv_constants_drop(all, SLIST_FIRST(all)->rdev);
}
