/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stock/stock.h"

#include "base/backoff.h"
#include "base/base.h"
#include "preload/core/guard.h"

#include <string.h>

struct wv_worker_lock wv_making WV_HOT = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t lock WV_HOT = PTHREAD_MUTEX_INITIALIZER;
static struct wv_shape shapes[WV_STOCK_SHAPES] WV_COLD(1);

void wv_stock_lock(void)
{
	wv_guard_begin();
	pthread_mutex_lock(&lock);
}

void wv_stock_unlock(void)
{
	pthread_mutex_unlock(&lock);
	wv_guard_end();
}

struct wv_shape *wv_stock_after(const struct wv_shape *shape)
{
	struct wv_shape *next = shape ? shapes + (shape - shapes) + 1 : shapes;

	while (next < shapes + WV_STOCK_SHAPES && !next->is_used)
		next++;
	return next < shapes + WV_STOCK_SHAPES ? next : NULL;
}

struct wv_shape *wv_stock_find(const struct wv_qp_key *key)
{
	wv_each_shape (shape)
		if (!memcmp(&shape->key, key, sizeof(*key)))
			return shape;
	return NULL;
}

/* An unused place, or that of the shape without spares which was not asked for the longest. */
static struct wv_shape *place(void)
{
	struct wv_shape *oldest = NULL;

	for (struct wv_shape *shape = shapes; shape < shapes + WV_STOCK_SHAPES; shape++) {
		if (!shape->is_used)
			return shape;
		if (!shape->n && (!oldest || shape->asked_ms < oldest->asked_ms))
			oldest = shape;
	}
	return oldest;
}

static struct wv_shape *add(const struct wv_qp_key *key)
{
	struct wv_shape *shape = place();

	if (shape)
		*shape = (struct wv_shape){.is_used = true, .key = *key};
	return shape;
}

struct wv_shape *wv_stock_ask(const struct wv_qp_key *key, uint64_t now_ms)
{
	struct wv_shape *shape = wv_stock_find(key) ?: add(key);

	if (!shape)
		return NULL;
	shape->asked_ms = now_ms;
	shape->demand++;
	return shape;
}

static bool may_become(struct wv_young_qp *spare, enum wv_young_state state)
{
	if (state == WV_YOUNG_AHEAD)
		return wv_ticket_redeem(&spare->ticket);
	return state == WV_YOUNG_RESERVED ? wv_ticket_keep(&spare->ticket)
					  : wv_ticket_is_good(&spare->ticket);
}

struct wv_young_qp *wv_stock_take(struct wv_shape *shape, enum wv_young_state state)
{
	while (shape->n) {
		struct wv_young_qp *spare = wv_young_ready(&shape->key);

		shape->n--;
		/* Else a child has destroyed it: what the provider has of it is lost. */
		if (may_become(spare, state)) {
			wv_young_enter(spare, state);
			return spare;
		}
		wv_young_enter(spare, WV_YOUNG_NONE);
	}
	return NULL;
}

static bool is_moved_alike(const struct wv_shape *shape, const struct wv_init_moves *moves)
{
	return !memcmp(&shape->moves, moves, sizeof(*moves));
}

void wv_stock_return(struct wv_young_qp *spare)
{
	struct wv_shape *shape = wv_stock_find(&spare->key);
	bool fits = shape && is_moved_alike(shape, &spare->moves);

	spare->partner = (struct wv_partner){.pair = 0};
	wv_young_enter(spare, fits ? WV_YOUNG_READY : WV_YOUNG_OVER);
	if (!fits)
		return;
	shape->n++;
}

static bool is_shown(const struct wv_shape *shape)
{
	return shape->agreed >= WV_STOCK_AGREE;
}

bool wv_stock_is_low(const struct wv_shape *shape)
{
	return is_shown(shape) && shape->n <= shape->wanted / 2;
}

/* Spares that were moved in another way are surplus from then on. */
bool wv_stock_agree(const struct wv_qp_key *key, const struct wv_init_moves *moves)
{
	struct wv_shape *shape = wv_stock_find(key);

	if (!shape)
		return false;
	if (!is_moved_alike(shape, moves)) {
		shape->agreed = 0;
		if (!shape->n)
			shape->moves = *moves;
	}
	if (shape->agreed < WV_STOCK_AGREE)
		shape->agreed++;
	return is_shown(shape);
}

void wv_stock_differ(const struct wv_qp_key *key)
{
	struct wv_shape *shape = wv_stock_find(key);

	if (shape)
		shape->agreed = 0;
}

static uint32_t within(uint32_t least, uint32_t n, uint32_t most)
{
	return n < least ? least : n > most ? most : n;
}

void wv_stock_plan(uint64_t now_ms)
{
	wv_each_shape (shape) {
		bool is_idle = now_ms - shape->asked_ms >= WV_STOCK_IDLE_MS;

		if (!is_shown(shape) || is_idle)
			shape->wanted = 0;
		else if (shape->demand)
			shape->wanted = within(WV_STOCK_AT_LEAST, shape->demand, WV_STOCK_SPARES);
		shape->demand = 0;
	}
}

bool wv_stock_lacking(struct wv_young_qp *spare, uint64_t now_ms)
{
	wv_each_shape (shape) {
		if (shape->n >= shape->wanted || now_ms < shape->pause_until_ms)
			continue;
		*spare = (struct wv_young_qp){
		    .state = WV_YOUNG_READY, .key = shape->key, .moves = shape->moves};
		return true;
	}
	return false;
}

bool wv_stock_add(const struct wv_young_qp *spare)
{
	struct wv_shape *shape = wv_stock_find(&spare->key);

	if (!shape || shape->n >= shape->wanted || !is_moved_alike(shape, &spare->moves))
		return false;
	if (!wv_young_add(spare))
		return false;
	shape->failures = 0;
	shape->is_stocked = true;
	shape->n++;
	return true;
}

void wv_stock_put_off(const struct wv_qp_key *key, bool failed, uint64_t now_ms)
{
	struct wv_shape *shape = wv_stock_find(key);
	uint64_t pause_ms = WV_STOCK_SOON_MS;

	if (!shape)
		return;
	if (failed)
		pause_ms = wv_backoff(WV_STOCK_PAUSE_MS, WV_STOCK_LONGEST_MS, ++shape->failures);
	shape->pause_until_ms = now_ms + pause_ms;
}

struct wv_young_qp *wv_stock_surplus(void)
{
	wv_each_shape (shape)
		if (shape->n > shape->wanted)
			return wv_stock_take(shape, WV_YOUNG_OVER);
	return NULL;
}

void wv_stock_withdraw(const void *object)
{
	wv_each_shape (shape) {
		if (object && !wv_qp_key_uses(&shape->key, object))
			continue;
		while (wv_stock_take(shape, WV_YOUNG_OVER))
			;
		shape->is_used = false;
	}
}

uint32_t wv_stock_count(void)
{
	uint32_t n = 0;

	wv_each_shape (shape)
		n += shape->n;
	return n;
}

void wv_stock_forked(void)
{
	wv_each_shape (shape)
		shape->is_used = false;
}
