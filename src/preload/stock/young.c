/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stock/young.h"

#include "base/base.h"

#include <string.h>

#define PLACES (WV_YOUNG_READY_MOST + WV_YOUNG_OWN + WV_YOUNG_PAIRED)

static struct wv_young_qp all[PLACES] WV_COLD(1);
static unsigned int n_places; /* that were used at some time; behind them all are free */
static unsigned int n_of_program;
static unsigned int n_with_news;

struct wv_young_qp *wv_young_after(const struct wv_young_qp *young)
{
	struct wv_young_qp *y = young ? all + (young - all) + 1 : all;

	while (y < all + n_places && y->state == WV_YOUNG_NONE)
		y++;
	return y < all + n_places ? y : NULL;
}

static bool is_in(const struct wv_young_qp *young, uint32_t states)
{
	return states & WV_YOUNG_BIT(young->state);
}

bool wv_young_has_partner(const struct wv_young_qp *young)
{
	return young->partner.peer.qp_num && !young->partner.gone;
}

bool wv_young_keeps_number(const struct wv_young_qp *young)
{
	return wv_young_has_partner(young) && (young->partner.pair || !young->used);
}

static bool is_own(const struct wv_young_qp *y)
{
	return is_in(y, WV_YOUNG_OF_PROGRAM | WV_YOUNG_BIT(WV_YOUNG_PAST)) &&
	       !y->partner.peer.qp_num;
}

/* Whether it makes room for another one: nothing but learning is lost. */
static bool may_be_forgotten(const struct wv_young_qp *y)
{
	return is_own(y) && y->state != WV_YOUNG_AHEAD && !y->was_reset;
}

unsigned int wv_young_count(bool (*which)(const struct wv_young_qp *y))
{
	unsigned int n = 0;

	wv_each_young (y)
		n += which(y);
	return n;
}

static struct wv_young_qp *first(bool (*which)(const struct wv_young_qp *y))
{
	wv_each_young (y)
		if (which(y))
			return y;
	return NULL;
}

bool wv_young_has_room(void)
{
	return wv_young_count(is_own) < WV_YOUNG_OWN || first(may_be_forgotten);
}

void wv_young_set_news(struct wv_young_qp *young, uint32_t words)
{
	n_with_news += (unsigned int)!!words - (unsigned int)!!young->news;
	young->news = words;
}

bool wv_young_any_news(void)
{
	return n_with_news;
}

void wv_young_enter(struct wv_young_qp *young, enum wv_young_state state)
{
	unsigned int was = is_in(young, WV_YOUNG_OF_PROGRAM);
	unsigned int is = (WV_YOUNG_OF_PROGRAM >> state) & 1;

	young->state = state;
	if (state == WV_YOUNG_NONE)
		wv_young_set_news(young, 0);
	if (was != is)
		__atomic_store_n(&n_of_program, n_of_program + is - was, __ATOMIC_RELAXED);
}

static struct wv_young_qp *unused(void)
{
	for (struct wv_young_qp *y = all; y < all + n_places; y++)
		if (y->state == WV_YOUNG_NONE)
			return y;
	return n_places < PLACES ? &all[n_places++] : NULL;
}

struct wv_young_qp *wv_young_add(const struct wv_young_qp *young)
{
	struct wv_young_qp *place = NULL;

	if (is_own(young) && wv_young_count(is_own) >= WV_YOUNG_OWN) {
		place = first(may_be_forgotten);
		if (!place)
			return NULL;
		wv_young_enter(place, WV_YOUNG_NONE);
	}
	place = place ?: unused();
	if (!place)
		return NULL;
	*place = *young;
	place->qp_num = young->qp->qp_num;
	place->state = WV_YOUNG_NONE;
	place->news = 0;
	wv_young_enter(place, young->state);
	return place;
}

struct wv_young_qp *wv_young_find(const struct ibv_qp *qp)
{
	wv_each_young (y)
		if (y->qp == qp && is_in(y, WV_YOUNG_OF_PROGRAM))
			return y;
	return NULL;
}

struct wv_young_qp *wv_young_in(uint32_t states, const void *object)
{
	wv_each_young (y)
		if (is_in(y, states) && (!object || wv_qp_key_uses(&y->key, object)))
			return y;
	return NULL;
}

struct wv_young_qp *wv_young_ready(const struct wv_qp_key *key)
{
	wv_each_young (y)
		if (y->state == WV_YOUNG_READY && !memcmp(&y->key, key, sizeof(*key)))
			return y;
	return NULL;
}

bool wv_young_any(void)
{
	return __atomic_load_n(&n_of_program, __ATOMIC_RELAXED);
}

void wv_young_forked(void)
{
	wv_each_young (y) {
		wv_young_set_news(y, 0);
		y->partner.pair = 0;
		if (!is_in(y, WV_YOUNG_OF_PROGRAM) || !wv_young_has_partner(y))
			wv_young_enter(y, WV_YOUNG_NONE);
	}
}
