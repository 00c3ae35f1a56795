/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/outcome.h"

#include "base/base.h"
#include "base/log.h"
#include "cmdlog/normalise.h"
#include "daemon/ipc/ahead.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"
#include "store/reached.h"

#include <errno.h>
#include <string.h>

/* A lease that is closed sooner than this was not used at all: it did not fit the program. */
#define AT_ONCE_US (2 * WV_WAIT_MS * 1000)
/* A lease that is one end of a pair has so many steps more than its recipe. */
#define MOVES_OF_A_PAIR 2
/* Of those that are in no lease, no more are counted of one program. */
#define MOST_COMMANDS 1000000

/* Makes a recipe of @record, which was checked. 0 or -errno. */
static int make_recipe(struct wv_client *c, const struct wv_build_id *provider,
		       struct wv_cmdlog *record, struct wv_recipe **recipe)
{
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog *cmdlog = memory;
	int err = memory ? wv_normalise(record, memory, WV_CMDLOG_MAX_BYTES) : -ENOMEM;

	if (err)
		return err;
	if (!cmdlog->n_steps)
		return -ENODATA;
	if (wv_cmdlog_check(cmdlog, cmdlog->bytes, WV_RECIPE))
		return -EPROTO;
	err = wv_recipe_new(c->user->uid, &c->key, provider, cmdlog, recipe);
	if (!err)
		strcpy((*recipe)->comm, c->comm);
	return err;
}

/* Has leases of @recipe built. False: memory is short. */
static bool prepare(struct wv_client *c, struct wv_recipe *recipe)
{
	struct wv_service *s = c->service;
	int64_t asked_us = c->since_us; /* It asks as soon as it is connected. */

	if (!recipe->pool && wv_scheduler_adopt(s->scheduler, recipe))
		return false;
	wv_pool_forgive(recipe->pool);
	wv_pool_claim(recipe->pool, wv_now(s->event), asked_us, wv_idle_us(s->planner));
	wv_catalog_touch(s->catalog, recipe, wv_wall_clock());
	wv_scheduler_poke(s->scheduler, c->user->tenant);
	return true;
}

/*
 * A recording that goes on was sent before, and its recipe was made for this program alone: @recipe
 * takes the place of that.
 */
static void drop_preliminary(struct wv_client *c, const struct wv_recipe *recipe)
{
	struct wv_catalog *catalog = c->service->catalog;
	struct wv_recipe *before =
	    c->recipe == recipe->id ? NULL : wv_catalog_find(catalog, c->user->uid, c->recipe);

	if (before && !before->n_argv && before->counters.records == 1 && !before->counters.hits)
		wv_catalog_remove(catalog, before);
	c->recipe = recipe->id;
}

static void keep(struct wv_client *c, struct wv_recipe *recipe)
{
	if (!prepare(c, recipe))
		return;
	wv_catalog_recorded(c->service->catalog, recipe, c->argv);
	c->service->totals.records++;
	wv_ahead_opened(recipe, c->flags);
	drop_preliminary(c, recipe);
	if (recipe->refused)
		wv_log(WV_INFO, "%s of user %u cannot be prepared: %s", recipe->comm, recipe->uid,
		       recipe->refused);
	else
		wv_log(WV_INFO, "%s of user %u: recipe %016llx, %u steps", recipe->comm,
		       recipe->uid, (unsigned long long)recipe->id, recipe->n_steps);
}

enum wv_client_next wv_handle_record(struct wv_client *c, const struct wv_received *in)
{
	struct wv_msg_record *head = (void *)in->msg;
	struct wv_cmdlog *record = (struct wv_cmdlog *)(head + 1);
	struct wv_recipe *recipe;
	int err;

	c->state = head->more ? WV_CLIENT_RECORDING : WV_CLIENT_DONE;
	if (wv_cmdlog_check(record, in->msg->bytes - sizeof(*head), WV_RECORD))
		return WV_CLIENT_MALFORMED;
	if (!record->n_steps)
		return WV_CLIENT_CLOSE;
	if (record->driver_id != c->key.driver_id)
		return WV_CLIENT_MALFORMED;
	err = make_recipe(c, &head->provider, record, &recipe);
	if (err == -EPROTO)
		return WV_CLIENT_MALFORMED;
	if (!err)
		recipe = wv_catalog_add(c->service->catalog, recipe);
	if (!err && recipe)
		keep(c, recipe);
	else
		wv_log(WV_INFO, "a recording of %s of user %u is not kept: %s", c->comm,
		       c->user->uid, strerror(err ? -err : ENOMEM));
	return head->more ? WV_CLIENT_KEEP : WV_CLIENT_CLOSE;
}

static void note_divergence(struct wv_recipe *recipe, const struct wv_msg_report *report)
{
	recipe->divergence = (struct wv_divergence){
	    .driver_id = report->driver_id,
	    .object = report->object,
	    .method = report->method,
	    .write_cmd = report->write_cmd,
	    .why = report->why,
	    .attr = report->attr,
	    .offset = report->offset,
	};
}

/* Only what is not adopted yet becomes less. */
static bool goes_on(const struct wv_msg_report *last, const struct wv_msg_report *report)
{
	return !last->msg.bytes ||
	       (report->adopted >= last->adopted && report->kernel >= last->kernel &&
		report->diverged >= last->diverged && report->unused <= last->unused &&
		report->spares >= last->spares);
}

/* Counts what is new in @report since the client's last one. */
static void count(struct wv_counters *counters, const struct wv_msg_report *last,
		  const struct wv_msg_report *report)
{
	bool was_warm = last->msg.bytes && !last->diverged;

	counters->reports += !last->msg.bytes;
	counters->warm += (uint64_t)!report->diverged - was_warm;
	counters->adopted += report->adopted - last->adopted;
	counters->kernel += report->kernel - last->kernel;
	counters->diverged += report->diverged - last->diverged;
	counters->unused += (uint64_t)report->unused - last->unused;
	counters->spares += report->spares - last->spares;
}

/* The client's last report was that. */
static void note_end(struct wv_client *c)
{
	const struct wv_msg_report *report = &c->report;
	struct wv_catalog *catalog = c->service->catalog;
	struct wv_recipe *recipe = wv_catalog_find(catalog, c->user->uid, c->recipe);

	if (!recipe || (report->diverged && !report->late))
		return;
	if (!report->diverged)
		wv_catalog_served(catalog, recipe, c->argv, WV_FIT);
	if (report->more && report->unused)
		return; /* it was killed: what it would have used is not known */
	recipe = wv_catalog_reached(catalog, recipe, report->reached);
	if (recipe && prepare(c, recipe))
		wv_log(WV_INFO, "%s of user %u: recipe %016llx, shortened to %u steps",
		       recipe->comm, recipe->uid, (unsigned long long)recipe->id, recipe->n_steps);
}

static void limit(uint32_t *count, uint32_t most)
{
	if (*count > most)
		*count = most;
}

/* A program may say anything about itself, but its numbers are added to those of the node. */
static struct wv_msg_report believable(const struct wv_msg_report *report,
				       const struct wv_recipe *recipe)
{
	struct wv_msg_report r = *report;
	uint32_t steps = recipe->n_steps + MOVES_OF_A_PAIR;

	limit(&r.adopted, steps);
	limit(&r.unused, steps);
	limit(&r.kernel, MOST_COMMANDS);
	limit(&r.diverged, MOST_COMMANDS);
	limit(&r.spares, MOST_COMMANDS);
	return r;
}

enum wv_client_next wv_handle_report(struct wv_client *c, const struct wv_received *in)
{
	const struct wv_msg_report *report = (const void *)in->msg;
	struct wv_catalog *catalog = c->service->catalog;
	struct wv_recipe *recipe = wv_catalog_find(catalog, c->user->uid, c->recipe);
	const struct wv_msg_report last = c->report;

	if (!goes_on(&last, report))
		return WV_CLIENT_MALFORMED;
	if (!recipe) { /* dropped in the meantime */
		c->state = WV_CLIENT_DONE;
		return WV_CLIENT_CLOSE;
	}
	c->report = believable(report, recipe);
	count(&recipe->counters, &last, &c->report);
	count(&c->service->totals, &last, &c->report);
	recipe->stale = true;
	if (report->diverged && !last.diverged) {
		note_divergence(recipe, report);
		wv_catalog_served(catalog, recipe, c->argv,
				  report->late ? WV_DIVERGED_LATE : WV_DIVERGED);
	}
	if (report->more)
		return WV_CLIENT_KEEP;
	c->state = WV_CLIENT_DONE;
	note_end(c);
	return WV_CLIENT_CLOSE;
}

/* A lease that was given up at once did not fit. */
static void note_no_report(struct wv_client *c)
{
	struct wv_catalog *catalog = c->service->catalog;
	struct wv_recipe *recipe = wv_catalog_find(catalog, c->user->uid, c->recipe);

	if (!recipe)
		return;
	if (c->unread) { /* the program listed devices, and opened none */
		recipe->counters.hits -= !!recipe->counters.hits;
		wv_ahead_in_vain(recipe);
	} else if (wv_now(c->service->event) - c->since_us < AT_ONCE_US) {
		wv_catalog_served(catalog, recipe, c->argv, WV_DIVERGED);
	}
}

void wv_handle_end(struct wv_client *c)
{
	if (c->report.msg.bytes)
		note_end(c);
	else
		note_no_report(c);
}
