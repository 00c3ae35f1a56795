/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/stock.h"

#include "base/backoff.h"
#include "base/base.h"

#include <string.h>

static struct wv_shape shapes[WV_STOCK_SHAPES] WV_COLD(1);

#define each_shape(shape)                                                                          \
	for (struct wv_shape *shape = shapes; shape < shapes + WV_STOCK_SHAPES; shape++)           \
		if (shape->is_used)

static struct wv_shape *find(const struct wv_qp_key *key)
{
	each_shape(shape) if (!memcmp(&shape->key, key, sizeof(*key))) return shape;
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
	static uint64_t last_number;
	struct wv_shape *shape = place();

	if (shape)
		*shape = (struct wv_shape){.is_used = true, .key = *key, .number = ++last_number};
	return shape;
}

struct wv_shape *wv_stock_ask(const struct wv_qp_key *key, uint64_t now_ms)
{
	struct wv_shape *shape = find(key) ?: add(key);

	if (!shape)
		return NULL;
	shape->asked_ms = now_ms;
	shape->demand++;
	return shape;
}

bool wv_stock_take(struct wv_shape *shape, struct wv_spare *spare)
{
	if (!shape->n)
		return false;
	*spare = shape->spares[--shape->n];
	return true;
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
	struct wv_shape *shape = find(key);

	if (!shape)
		return false;
	if (memcmp(&shape->moves, moves, sizeof(*moves)) != 0) {
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
	struct wv_shape *shape = find(key);

	if (shape)
		shape->agreed = 0;
}

static bool is_as_before(const struct wv_shape *shape, const struct wv_connection *connection)
{
	return shape->connected && shape->connection.by_request == connection->by_request &&
	       wv_connect_steps_agree(&shape->connection.rtr, &connection->rtr) &&
	       wv_connect_steps_agree(&shape->connection.rts, &connection->rts);
}

uint64_t wv_stock_connected(const struct wv_qp_key *key, const struct wv_connection *connection)
{
	struct wv_shape *shape = find(key);

	if (!shape)
		return 0;
	if (!connection || !is_as_before(shape, connection))
		shape->connected = 0;
	if (!connection)
		return 0;
	shape->connection = *connection;
	if (shape->connected < WV_STOCK_AGREE)
		shape->connected++;
	return shape->connected == WV_STOCK_AGREE && shape->wanted && shape->is_stocked
		   ? shape->number
		   : 0;
}

struct wv_shape *wv_stock_numbered(uint64_t number)
{
	each_shape(shape) if (shape->number == number) return shape;
	return NULL;
}

static uint32_t within(uint32_t least, uint32_t n, uint32_t most)
{
	return n < least ? least : n > most ? most : n;
}

void wv_stock_plan(uint64_t now_ms)
{
	each_shape(shape)
	{
		bool is_idle = now_ms - shape->asked_ms >= WV_STOCK_IDLE_MS;

		if (!is_shown(shape) || is_idle)
			shape->wanted = 0;
		else if (shape->demand)
			shape->wanted = within(WV_STOCK_AT_LEAST, shape->demand, WV_STOCK_SPARES);
		shape->demand = 0;
	}
}

bool wv_stock_lacking(struct wv_order *order, uint64_t now_ms)
{
	each_shape(shape)
	{
		if (shape->n >= shape->wanted || now_ms < shape->pause_until_ms)
			continue;
		*order = (struct wv_order){shape->key, shape->moves};
		return true;
	}
	return false;
}

bool wv_stock_add(const struct wv_order *order, const struct wv_spare *spare)
{
	struct wv_shape *shape = find(&order->key);

	if (!shape || shape->n >= shape->wanted ||
	    memcmp(&shape->moves, &order->moves, sizeof(order->moves)) != 0)
		return false;
	shape->failures = 0;
	shape->is_stocked = true;
	shape->spares[shape->n++] = *spare;
	return true;
}

void wv_stock_fail(const struct wv_order *order, uint64_t now_ms)
{
	struct wv_shape *shape = find(&order->key);

	if (shape)
		shape->pause_until_ms =
		    now_ms + wv_backoff(WV_STOCK_PAUSE_MS, WV_STOCK_LONGEST_MS, ++shape->failures);
}

void wv_stock_put_off(const struct wv_order *order, uint64_t now_ms)
{
	struct wv_shape *shape = find(&order->key);

	if (shape)
		shape->pause_until_ms = now_ms + WV_STOCK_SOON_MS;
}

bool wv_stock_surplus(struct wv_spare *spare)
{
	each_shape(shape) if (shape->n > shape->wanted) return wv_stock_take(shape, spare);
	return false;
}

bool wv_stock_withdraw(const void *object, struct wv_spare *spare)
{
	each_shape(shape)
	{
		if (object && !wv_qp_key_uses(&shape->key, object))
			continue;
		if (wv_stock_take(shape, spare))
			return true;
		shape->is_used = false;
	}
	return false;
}

uint32_t wv_stock_count(void)
{
	uint32_t n = 0;

	each_shape(shape) n += shape->n;
	return n;
}

void wv_stock_forget(void)
{
	each_shape(shape) shape->is_used = false;
}
