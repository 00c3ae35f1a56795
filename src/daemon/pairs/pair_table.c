/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/pair_table.h"

#include "base/base.h"
#include "base/random.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/links.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct wv_pool *wv_pair_pool(const struct wv_pairs *p, const struct wv_edge *edge)
{
	const struct wv_recipe *recipe =
	    wv_catalog_find(p->catalog, edge->last.uid, edge->last.recipe);

	return recipe ? recipe->pool : NULL;
}

int wv_pair_ask(struct wv_pairs *p, const struct wv_edge *edge, struct wv_pair_note note)
{
	const char *user = wv_user_name(p->names, edge->last.uid);

	if (!user || !*user)
		return -EAGAIN;
	memcpy(note.gid, edge->last.gid, sizeof(note.gid));
	memcpy(note.peer_gid, edge->last.peer_gid, sizeof(note.peer_gid));
	strcpy(note.user, user);
	return wv_pair_send(p, edge->last.peer, note);
}

void wv_pair_say(struct wv_pairs *p, const struct wv_pair *pair, enum wv_pair_word word,
		 enum wv_pair_why why)
{
	wv_pair_send(p, pair->peer,
		     (struct wv_pair_note){
			 .word = (uint16_t)word,
			 .why = (uint16_t)why,
			 .keeper = pair->edge->keeper,
			 .pair = pair->id,
		     });
}

void wv_pair_enter(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_state state)
{
	pair->state = state;
	pair->since_us = wv_now(p->event);
}

struct wv_pair *wv_pair_find(struct wv_pairs *p, uint64_t id)
{
	struct wv_pair *pair;

	LIST_FOREACH (pair, &p->all, link)
		if (pair->id == id)
			return pair;
	return NULL;
}

/* What a lease takes of which only the number of a queue pair is kept. */
static const struct wv_cost reserved = {.fds = 1};

bool wv_pair_keep_number(struct wv_pair *pair)
{
	pair->fd = fcntl(pair->lease->fds.all[0], F_DUPFD_CLOEXEC, 3);
	if (pair->fd >= 0)
		wv_tenant_hold(pair->tenant, &reserved);
	return pair->fd >= 0;
}

void wv_pair_let_number_go(struct wv_pairs *p, struct wv_pair *pair)
{
	if (pair->fd < 0)
		return;
	wv_closer_give(p->closer, pair->tenant, pair->fd);
	wv_tenant_release(pair->tenant, &reserved);
	pair->fd = -1;
}

void wv_pair_forget(struct wv_pairs *p, struct wv_pair *pair)
{
	if (wv_pair_is_claimed(pair)) {
		pair->edge->n_claimed--;
		pair->edge->n_awaited -= !pair->is_used;
	}
	if (pair->held)
		*pair->held = NULL;
	wv_end_unwatch(&pair->end);
	if (pair->lease)
		wv_builders_close(p->builders, pair->lease);
	wv_pair_let_number_go(p, pair);
	pair->edge->n_pairs--;
	wv_tenant_put(pair->tenant);
	LIST_REMOVE(pair, link);
	p->n--;
	free(pair);
}

void wv_pair_drop(struct wv_pairs *p, struct wv_pair *pair, enum wv_pair_why why)
{
	wv_pair_say(p, pair, WV_PAIR_DROP, why);
	if (pair->state == WV_PAIR_CONNECTING)
		wv_pair_enter(p, pair, WV_PAIR_CANCELLED);
	else if (pair->state != WV_PAIR_CANCELLED)
		wv_pair_forget(p, pair);
}

void wv_pair_put_into_pool(struct wv_pairs *p, struct wv_pair *pair)
{
	struct wv_pool *pool = wv_pair_pool(p, pair->edge);

	if (pool && pair->lease) {
		pair->lease->pair = (struct wv_lease_pair){.pair = 0};
		wv_pool_put(pool, pair->lease);
		pair->lease = NULL;
	}
	wv_pair_forget(p, pair);
}

static uint64_t new_number(struct wv_pairs *p)
{
	uint64_t number = (uint64_t)p->number << 32 | (wv_random_number() & UINT32_MAX);

	while (wv_pair_find(p, number))
		number++;
	return number;
}

struct wv_pair *wv_pair_add(struct wv_pairs *p, struct wv_edge *edge, struct wv_pool *pool,
			    struct wv_pooled_lease *lease)
{
	struct wv_pair *pair = calloc(1, sizeof(*pair));

	if (!pair)
		return NULL;
	*pair = (struct wv_pair){
	    .id = new_number(p),
	    .edge = edge,
	    .peer = edge->last.peer,
	    .tenant = wv_tenant_keep(pool->tenant),
	    .lease = lease,
	    .rdev = lease->rdev,
	    .fd = -1,
	};
	memcpy(pair->peer_gid, edge->last.peer_gid, sizeof(pair->peer_gid));
	wv_pair_enter(p, pair, WV_PAIR_ASKED);
	LIST_INSERT_HEAD(&p->all, pair, link);
	edge->n_pairs++;
	p->n++;
	return pair;
}

void wv_pair_count(struct wv_peer *peer, enum wv_pair_why why)
{
	bool is_told =
	    why == WV_PAIR_NO_REASON || why == WV_PAIR_ATTRIBUTES || why == WV_PAIR_ENDED;

	if (peer && peer != WV_LOST_PEER)
		peer->pairs[is_told ? why : WV_PAIR_OTHER_PEER]++;
}
