/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/status_json.h"

#include "abi/abi.h"
#include "abi/drivers.h"
#include "base/base.h"
#include "daemon/ipc/documents.h"
#include "daemon/ipc/pairing_json.h"
#include "daemon/ipc/pool_requests.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"
#include "store/recipe_json.h"

#include <string.h>

/* "" becomes null. */
static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static uint32_t leases_on(const struct wv_service *s, const struct wv_device *device, uid_t who)
{
	uint32_t n = 0;

	wv_each_recipe_of_all (s->catalog, r)
		if (wv_may_see(who, r->uid) && r->pool && !strcmp(r->key.ibdev, device->ibdev))
			n += r->pool->n_ready;
	return n;
}

static json_t *devices(const struct wv_service *s, uid_t who)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < s->devices->n; i++) {
		const struct wv_device *d = &s->devices->all[i];

		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "name", d->ibdev,
			      "node", d->node, "driver",
			      text_or_null(wv_provider_name(d->driver_id)), "driver_id",
			      wv_json_number(d->driver_id), "provider", text_or_null(d->provider),
			      "leased", (int)d->leasable, "unleased_because",
			      text_or_null(d->unleased_because), "remedy", text_or_null(d->remedy),
			      "leases", wv_json_number(leases_on(s, d, who))));
	}
	return list;
}

static json_t *budgets(const struct wv_service *s)
{
	const struct wv_limits *l = &s->planner->limits;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "leases_per_recipe",
			 wv_json_number(l->leases_per_recipe), "leases_per_user",
			 wv_json_number(l->user.leases), "leases", wv_json_number(l->total.leases),
			 "memory_out", wv_json_number(s->handed_out->lender.max_bytes),
			 "memory_per_user", wv_json_number(l->user.bytes), "memory",
			 wv_json_number(l->total.bytes), "descriptors",
			 wv_json_number(l->total.fds), "recipes_per_user",
			 wv_json_number(s->catalog->limits.recipes_of_one), "recipes",
			 wv_json_number(s->catalog->limits.recipes));
}

static json_t *use(const struct wv_service *s, const struct wv_user *only)
{
	const struct wv_use *held = only ? &only->tenant->held : &s->planner->tenants->held;
	const struct wv_use *out = only ? &only->tenant->out : &s->handed_out->lender.use;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "leases", wv_json_number(held->leases),
			 "memory", wv_json_number(held->bytes), "descriptors",
			 wv_json_number(held->fds), "leases_out", wv_json_number(out->leases),
			 "memory_out", wv_json_number(out->bytes));
}

/* What all clients do together tells users of each other, so only the administrator sees it. */
static json_t *clients_seen_by(const struct wv_service *s, const struct wv_user *own, bool all)
{
	const struct wv_tally *t = &s->tally;

	if (!all)
		return json_pack("{s:o}", "connected", wv_json_number(own ? own->n_clients : 0));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "connected",
			 wv_json_number(s->n_clients), "accepted", wv_json_number(t->accepted),
			 "malformed", wv_json_number(t->malformed), "silent",
			 wv_json_number(t->silent), "over_limit", wv_json_number(t->over_limit),
			 "denied", wv_json_number(t->denied), "closing",
			 wv_json_number(wv_closer_busy(s->closer, NULL)));
}

static json_t *divergence(const struct wv_divergence *d)
{
	const struct wv_command_row *row =
	    wv_abi_find(d->driver_id, d->object, d->method, d->write_cmd);

	if (d->why == WV_WHY_NONE || d->why >= WV_WHYS)
		return json_null();
	return json_pack(
	    "{s:s, s:s, s:o, s:i, s:i, s:o, s:i, s:o}", "command", row ? row->name : "?", "why",
	    wv_why_name(d->why), "driver_id", wv_json_number(d->driver_id), "object", d->object,
	    "method", d->method, "write_cmd",
	    d->write_cmd == WV_NO_WRITE_CMD ? json_null() : wv_json_number(d->write_cmd), "attr",
	    d->attr, "offset", wv_json_number(d->offset));
}

static json_t *cost(const struct wv_cost *c)
{
	return json_pack("{s:o, s:i, s:i, s:i, s:i, s:i}", "bytes", wv_json_number(c->bytes), "pds",
			 (int)c->pds, "cqs", (int)c->cqs, "srqs", (int)c->srqs, "qps", (int)c->qps,
			 "fds", (int)c->fds);
}

/* The pool's part of a recipe; empty where there is none. */
static json_t *pool(const struct wv_service *s, const struct wv_recipe *r)
{
	static const struct wv_pool none;
	const struct wv_pool *p = r->pool ? r->pool : &none;

	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:i}", "ready", (int)p->n_ready, "target",
			 (int)p->target, "requested", wv_json_number(wv_pool_requested(s, r)),
			 "built", wv_json_number(p->n_built), "build_us_last",
			 wv_json_number(wv_pool_last_us(p)), "build_us_median",
			 wv_json_number(wv_pool_median_us(p)), "failures", (int)p->failures);
}

static const char *why_unfit(const struct wv_recipe *r)
{
	if (r->refused)
		return r->refused;
	return r->unfit && r->pool ? r->pool->error : NULL;
}

/* As in its file, with the steps as a number, and what is known now. */
static json_t *recipe(const struct wv_service *s, const struct wv_recipe *r)
{
	json_t *json = wv_recipe_summary(r);

	json_object_set_new(json, "uid", wv_json_number(r->uid));
	json_object_set_new(json, "pool", pool(s, r));
	json_object_set_new(json, "cost", cost(&r->cost));
	json_object_set_new(json, "divergence", divergence(&r->divergence));
	json_object_set_new(json, "unfit", text_or_null(why_unfit(r)));
	json_object_set_new(json, "error", text_or_null(r->pool ? r->pool->error : NULL));
	return json;
}

static json_t *user(const struct wv_service *s, const struct wv_user *u)
{
	return json_pack("{s:o, s:i, s:i, s:o}", "uid", wv_json_number(u->uid), "clients",
			 (int)u->n_clients, "recipes", (int)u->n_recipes, "use", use(s, u));
}

json_t *wv_status(const struct wv_service *s, uid_t who)
{
	const struct wv_user *own = wv_catalog_user(s->catalog, who, false);
	bool all =
	    who == WV_ADMINISTRATOR; /* others may not see what the programs of all users do */
	json_t *users = json_array();
	json_t *recipes = json_array();
	struct wv_user *u;
	struct wv_recipe *r;

	wv_each_user (s->catalog, u) {
		if (!wv_may_see(who, u->uid))
			continue;
		json_array_append_new(users, user(s, u));
		wv_each_recipe (u, r)
			json_array_append_new(recipes, recipe(s, r));
	}
	return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version",
			 WV_VERSION, "uptime_s",
			 wv_json_number((uint64_t)(wv_now(s->event) - s->start_us) / 1000000),
			 "kernel", s->planner->kernel, "socket", s->socket, "devices",
			 devices(s, who), "budgets", budgets(s), "use", use(s, all ? NULL : own),
			 "clients", clients_seen_by(s, own, all), "totals",
			 all ? wv_counters_json(&s->totals) : json_null(), "pairs",
			 all ? wv_pairs_json(s) : json_null(), "users", users, "recipes", recipes);
}
