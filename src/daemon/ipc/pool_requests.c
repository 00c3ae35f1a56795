/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/pool_requests.h"

#include "base/base.h"
#include "daemon/pool/pool.h"

#include <string.h>

static bool is_same_id(const struct wv_build_id *a, const struct wv_build_id *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Whether the request does not say which libibverbs the program will load. */
static bool is_any_verbs(const struct wv_key *requested)
{
	static const struct wv_build_id any;

	return is_same_id(&requested->verbs, &any);
}

static bool is_same_program(const struct wv_key *requested, const struct wv_key *key)
{
	return is_same_id(&requested->program, &key->program) &&
	       (is_any_verbs(requested) || is_same_id(&requested->verbs, &key->verbs)) &&
	       !strcmp(requested->name, key->name);
}

/* Whether programs started as the client's was would be served from @recipe, one of @variants. */
static bool is_for(const struct wv_client *c, const struct wv_recipe *recipe,
		   const struct wv_variants *variants)
{
	return c->user->uid == recipe->uid && is_same_program(&c->key, &recipe->key) &&
	       wv_variant_for(variants, c->argv) == recipe;
}

uint32_t wv_pool_requested(const struct wv_service *s, const struct wv_recipe *recipe)
{
	const struct wv_client *c;
	struct wv_variants variants;
	uint32_t most = 0;

	wv_catalog_variants(s->catalog, recipe, &variants);
	LIST_FOREACH (c, &s->pool_requests, pool_link)
		if (c->leases > most && is_for(c, recipe, &variants))
			most = c->leases;
	return most;
}

static unsigned int pool_requests_of(const struct wv_service *s, const struct wv_tenant *tenant)
{
	const struct wv_client *c;
	unsigned int n = 0;

	LIST_FOREACH (c, &s->pool_requests, pool_link)
		n += c->tenant == tenant;
	return n;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The state of the pool request. Recipes whose device is absent do not count. */
static struct wv_msg_pool_state state_of(struct wv_client *c)
{
	struct wv_msg_pool_state state = {.granted = UINT32_MAX, .ready = UINT32_MAX};
	struct wv_service *s = c->service;
	struct wv_variants variants;
	struct wv_recipe *recipe;

	wv_each_recipe (c->user, recipe) {
		wv_catalog_variants(s->catalog, recipe, &variants);
		if (!recipe->pool || !is_for(c, recipe, &variants) ||
		    !wv_device_of(s->planner, recipe))
			continue;
		state.granted = smaller(state.granted, recipe->pool->target);
		state.ready = smaller(state.ready, recipe->pool->n_ready);
	}
	if (state.ready == UINT32_MAX)
		state.granted = state.ready = 0;
	state.granted = smaller(state.granted, c->leases);
	return state;
}

static int answer(struct wv_client *c)
{
	struct wv_msg_pool_state state;

	wv_plan_pools(c->service->planner);
	state = state_of(c);
	wv_msg_init(&state.msg, WV_MSG_POOL_STATE, sizeof(state));
	return wv_client_answer(
	    c, &(struct wv_answer_parts){.head = &state, .head_bytes = sizeof(state)});
}

/*
 * The libibverbs that the program was last used with, or else still any. Recipes of older ones stay
 * for a long time after an update, and need no leases.
 */
static void choose_verbs(const struct wv_user *user, struct wv_key *requested)
{
	const struct wv_recipe *recipe;

	wv_each_recipe (user, recipe) {
		if (!is_same_program(requested, &recipe->key))
			continue;
		requested->verbs = recipe->key.verbs;
		return;
	}
}

static void note(struct wv_client *c, const struct wv_msg_pool *request)
{
	wv_client_remember(c, &request->program);
	if (is_any_verbs(&c->key))
		choose_verbs(c->user, &c->key);
	if (!c->leases)
		LIST_INSERT_HEAD(&c->service->pool_requests, c, pool_link);
	if (c->leases != request->leases)
		wv_scheduler_poke(c->service->scheduler, c->user->tenant);
	c->leases = request->leases;
	c->state = WV_CLIENT_POOL;
}

enum wv_client_next wv_handle_pool(struct wv_client *c, const struct wv_received *in)
{
	const struct wv_msg_pool *request = (const void *)in->msg;
	struct wv_service *s = c->service;

	if (!request->leases)
		return WV_CLIENT_MALFORMED;
	if (!c->leases && pool_requests_of(s, c->tenant) >= WV_MAX_POOL_REQUESTS_PER_TENANT) {
		s->tally.over_limit++;
		return WV_CLIENT_CLOSE;
	}
	note(c, request);
	return answer(c) ? WV_CLIENT_CLOSE : WV_CLIENT_KEEP;
}

void wv_pool_request_end(struct wv_client *c)
{
	if (!c->leases)
		return;
	LIST_REMOVE(c, pool_link);
	c->leases = 0;
	wv_scheduler_poke(c->service->scheduler, c->user->tenant);
}
