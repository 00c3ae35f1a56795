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
	struct wv_constants *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->rdev = rdev;
	c->driver_id = driver_id;
	TAILQ_INIT(&c->answers);
	SLIST_INSERT_HEAD(all, c, link);
	return c;
}

static struct wv_step *step_of(struct wv_constant *constant)
{
	return (struct wv_step *)constant->step;
}

static void forget(struct wv_constants *c, struct wv_constant *constant)
{
	c->bytes -= step_of(constant)->bytes;
	TAILQ_REMOVE(&c->answers, constant, link);
	free(constant);
}

/* An error may have passed by the next time. */
static bool is_to_be_learned(struct wv_step *step)
{
	if (step->class_ != WV_CONSTANT || step->error)
		return false;
	wv_each_attr (step, attr)
		if (attr->kind == WV_EQUAL && attr->len > MAX_QUESTION)
			return false;
	return true;
}

static bool asked(const struct wv_tenant *tenant, const struct wv_constant *constant)
{
	for (unsigned int i = 0; i < constant->n_askers; i++)
		if (constant->askers[i].uid == tenant->uid &&
		    constant->askers[i].container == tenant->container)
			return true;
	return false;
}

static void add_asker(struct wv_constant *constant, const struct wv_tenant *tenant)
{
	constant->askers[constant->n_askers++] =
	    (struct wv_asker){.uid = tenant->uid, .container = tenant->container};
}

static bool is_common(const struct wv_constant *constant)
{
	return constant->n_askers == 2;
}

static bool is_same(struct wv_constant *known, const struct wv_step *step)
{
	return step_of(known)->bytes == step->bytes && !memcmp(known->step, step, step->bytes);
}

static bool has_quota(const struct wv_constants *c, const struct wv_tenant *tenant, size_t bytes)
{
	struct wv_constant *known;

	TAILQ_FOREACH (known, &c->answers, link)
		if (asked(tenant, known))
			bytes += step_of(known)->bytes;
	return bytes <= WV_CONSTANTS_QUOTA;
}

/* The entry of @step that @tenant gets the answer from, or that it can join; NULL if none. */
static struct wv_constant *find_step(struct wv_constants *c, const struct wv_tenant *tenant,
				     const struct wv_step *step)
{
	struct wv_constant *known;

	TAILQ_FOREACH (known, &c->answers, link)
		if (is_same(known, step) && (is_common(known) || asked(tenant, known) ||
					     c->common_bytes + step->bytes <= WV_CONSTANTS_COMMON))
			return known;
	return NULL;
}

static void make_room(struct wv_constants *c)
{
	struct wv_constant *known, *next;

	for (known = TAILQ_FIRST(&c->answers); known && c->bytes > WV_CONSTANTS_ALL; known = next) {
		next = TAILQ_NEXT(known, link);
		if (!is_common(known))
			forget(c, known);
	}
}

static void add(struct wv_constants *c, const struct wv_tenant *tenant, const struct wv_step *step)
{
	struct wv_constant *new = calloc(1, sizeof(*new) + step->bytes);

	if (!new)
		return;
	add_asker(new, tenant);
	memcpy(new->step, step, step->bytes);
	TAILQ_INSERT_TAIL(&c->answers, new, link);
	c->bytes += step->bytes;
	make_room(c);
}

static void learn(struct wv_constants *c, const struct wv_tenant *tenant,
		  const struct wv_step *step)
{
	struct wv_constant *known = find_step(c, tenant, step);

	if ((known && (is_common(known) || asked(tenant, known))) ||
	    !has_quota(c, tenant, step->bytes))
		return;
	if (!known) {
		add(c, tenant, step);
		return;
	}
	add_asker(known, tenant);
	c->common_bytes += step->bytes;
}

void wv_constants_learn(struct wv_all_constants *all, dev_t rdev, const struct wv_tenant *tenant,
			struct wv_cmdlog *lease)
{
	struct wv_constants *c = find(all, rdev);

	if (!c)
		c = make(all, rdev, lease->driver_id);
	wv_each_step (lease, step)
		if (c && is_to_be_learned(step))
			learn(c, tenant, step);
}

struct wv_cmdlog *wv_constants_of(struct wv_all_constants *all, dev_t rdev,
				  const struct wv_tenant *tenant)
{
	struct wv_constants *c = find(all, rdev);
	struct wv_cmdlog_writer w;
	struct wv_constant *known;

	if (!c)
		return NULL;
	wv_cmdlog_begin(&w, c->composed, sizeof(c->composed), WV_LEASE, c->driver_id);
	TAILQ_FOREACH (known, &c->answers, link)
		if (is_common(known) || asked(tenant, known))
			wv_cmdlog_copy(&w, step_of(known));
	return w.cmdlog->n_steps ? w.cmdlog : NULL;
}

void wv_constants_drop(struct wv_all_constants *all, dev_t rdev)
{
	struct wv_constants *c = find(all, rdev);

	if (!c)
		return;
	while (!TAILQ_EMPTY(&c->answers))
		forget(c, TAILQ_FIRST(&c->answers));
	SLIST_REMOVE(all, c, wv_constants, link);
	free(c);
}

void wv_constants_drop_all(struct wv_all_constants *all)
{
	while (!SLIST_EMPTY(all))
		wv_constants_drop(all, SLIST_FIRST(all)->rdev);
}
