/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/ends.h"

#include "base/random.h"

#include <string.h>

bool wv_shape_may_pair(const struct wv_shape *shape)
{
	return shape->connected == WV_STOCK_AGREE;
}

void wv_shapes_number(void)
{
	wv_each_shape (shape)
		if (shape->is_stocked && !shape->number)
			shape->number = wv_random_number();
}

uint64_t wv_shape_connected(const struct wv_qp_key *key, bool by_gid, bool by_request)
{
	struct wv_shape *shape = wv_stock_find(key);

	if (!shape)
		return 0;
	if (!by_gid || shape->by_request != by_request)
		shape->connected = 0;
	if (!by_gid)
		return 0;
	shape->by_request = by_request;
	if (shape->connected < WV_STOCK_AGREE)
		shape->connected++;
	return wv_shape_may_pair(shape) && shape->wanted ? shape->number : 0;
}

struct wv_shape *wv_shape_numbered(uint64_t number)
{
	if (number)
		wv_each_shape (shape)
			if (shape->number == number)
				return shape;
	return NULL;
}

struct wv_young_qp *wv_end_of_pair(uint64_t pair)
{
	if (pair)
		wv_each_young (y)
			if (y->partner.pair == pair)
				return y;
	return NULL;
}

struct wv_young_qp *wv_end_with_news(uint32_t words)
{
	if (wv_young_any_news())
		wv_each_young (y)
			if (y->news & words)
				return y;
	return NULL;
}

static bool is_paired(const struct wv_young_qp *y)
{
	return y->partner.peer.qp_num;
}

static bool is_lost_for_long(const struct wv_young_qp *y)
{
	return y->state == WV_YOUNG_LOST && y->partner.claimed;
}

bool wv_ends_any(void)
{
	return wv_young_count(is_paired);
}

bool wv_ends_have_room(void)
{
	return wv_young_count(is_paired) < WV_YOUNG_PAIRED &&
	       wv_young_count(is_lost_for_long) < WV_YOUNG_LOST_PAIRS;
}

void wv_ends_lose(bool left, uint64_t now_ms)
{
	wv_each_young (y) {
		wv_young_set_news(y, 0);
		if (y->state == WV_YOUNG_PAST)
			wv_young_enter(y, WV_YOUNG_NONE);
		if (!wv_young_has_partner(y))
			continue;
		y->partner.gone = left && y->partner.pair;
		y->partner.pair = 0;
		if (WV_YOUNG_BIT(y->state) & WV_YOUNG_OF_PROGRAM)
			continue;
		wv_young_enter(y, WV_YOUNG_LOST);
		y->lost_ms = now_ms;
	}
}

bool wv_ends_end_lost(uint64_t now_ms)
{
	bool any = false;

	wv_each_young (y) {
		if (y->state != WV_YOUNG_LOST || y->partner.claimed)
			continue;
		if (now_ms - y->lost_ms >= WV_ENDS_LOST_MS)
			wv_young_enter(y, WV_YOUNG_OVER);
		else
			any = true;
	}
	return any;
}
