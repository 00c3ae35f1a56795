/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/server_end.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/core/counters.h"
#include "preload/pairs/keeper_sock.h"
#include "preload/pairs/partner.h"
#include "preload/stock/aside_qp.h"
#include "preload/stock/stock.h"

#include <errno.h>

#define PATIENCE_MS 1000 /* a daemon that reads nothing for so long is left */
#define DROPPED_MS  WV_WAIT_MS
#define LOOK_US	    500

/* Guarded by the lock of the stock. */
static uint64_t waiting_ms; /* since when the daemon reads nothing; 0: it reads */

static int reply(const struct wv_pair_note *about, enum wv_pair_word word, enum wv_pair_why why)
{
	const struct wv_pair_note note = wv_pair_note_as(about, word, why);

	return wv_keeper_send(&note, PATIENCE_MS);
}

/*
 * Reserves a spare for @ask, whose number it writes to *@qp_num. Call with the lock of the stock.
 */
static enum wv_pair_why reserve(const struct wv_pair_note *ask, uint32_t *qp_num)
{
	struct wv_shape *shape = wv_shape_numbered(ask->shape);
	struct wv_young_qp *spare;

	if (!wv_ends_have_room())
		return WV_PAIR_NO_SPARE;
	if (!shape || memcmp(shape->gid, ask->peer_gid, sizeof(shape->gid)) != 0)
		return WV_PAIR_UNKNOWN;
	if (!wv_shape_may_pair(shape))
		return WV_PAIR_ATTRIBUTES;
	shape->demand++; /* so that there is another one, for the program or a further pair */
	spare = wv_stock_take(shape, WV_YOUNG_RESERVED);
	if (!spare)
		return WV_PAIR_NO_SPARE;
	spare->by_request = shape->by_request;
	spare->partner = (struct wv_partner){
	    .pair = ask->pair,
	    .peer = {.qp_num = ask->qp_num, .psn = ask->psn, .peer_psn = ask->peer_psn}};
	memcpy(spare->partner.peer.gid, ask->gid, sizeof(ask->gid));
	memcpy(spare->partner.own_gid, ask->peer_gid, sizeof(ask->peer_gid));
	*qp_num = spare->qp->qp_num;
	return WV_PAIR_NO_REASON;
}

static int hear_ask(const struct wv_pair_note *ask)
{
	struct wv_pair_note made = wv_pair_note_as(ask, WV_PAIR_MADE, WV_PAIR_NO_REASON);
	enum wv_pair_why why = WV_PAIR_UNKNOWN;
	bool is_known;

	if (!wv_pair_ask_is_sound(ask))
		return -EPROTO;
	wv_stock_lock();
	is_known = wv_end_of_pair(ask->pair);
	if (!is_known)
		why = reserve(ask, &made.qp_num);
	wv_stock_unlock();
	if (is_known)
		return -EPROTO;
	if (why)
		return reply(ask, WV_PAIR_REFUSED, why);
	wv_count(&wv_counters.pairs_made);
	made.peer_qp_num = ask->qp_num;
	memcpy(made.gid, ask->peer_gid, sizeof(made.gid));
	memcpy(made.peer_gid, ask->gid, sizeof(made.peer_gid));
	return reply(&made, WV_PAIR_MADE, WV_PAIR_NO_REASON);
}

static void hear_claimed(struct wv_young_qp *y)
{
	y->partner.claimed = true;
	if (y->state == WV_YOUNG_RESERVED)
		wv_young_enter(y, WV_YOUNG_CLAIMED);
}

/* It is destroyed once the client's end is no part of the pair any more. */
static void hear_leave(struct wv_young_qp *y)
{
	if (WV_YOUNG_BIT(y->state) & WV_YOUNG_UNTAKEN)
		wv_partner_leave(y, WV_PAIR_MOVED);
}

int wv_server_end_hear(const struct wv_pair_note *note)
{
	/* Once the client's end is no part of the pair any more, this one is none either. */
	static void (*const hear[WV_PAIR_WORDS])(struct wv_young_qp * y) = {
	    [WV_PAIR_CLAIMED] = hear_claimed,
	    [WV_PAIR_DROP] = wv_partner_has_gone,
	    [WV_PAIR_DROPPED] = wv_partner_has_gone,
	    [WV_PAIR_LEAVE] = hear_leave,
	};
	struct wv_young_qp *y;

	if (note->word == WV_PAIR_ASK)
		return hear_ask(note);
	if (note->word >= WV_PAIR_WORDS || !hear[note->word])
		return -EPROTO;
	wv_stock_lock();
	y = wv_end_of_pair(note->pair);
	if (y)
		hear[note->word](y);
	wv_stock_unlock();
	if (note->word == WV_PAIR_DROP)
		return reply(note, WV_PAIR_DROPPED, WV_PAIR_NO_REASON);
	return wv_server_end_tell();
}

static int tell_of(struct wv_young_qp *y, enum wv_pair_word word)
{
	const struct wv_pair_note note = {
	    .word = (uint16_t)word, .why = y->why, .pair = y->partner.pair};
	int err = wv_keeper_send(&note, 0);

	if (!err)
		wv_partner_told(y, word);
	return err;
}

static int tell_all(enum wv_pair_word word)
{
	struct wv_young_qp *y;
	int err = 0;

	while (!err && (y = wv_end_with_news(1u << word)))
		err = tell_of(y, word);
	return err;
}

/* Whether the daemon may read the rest later, though it cannot be sent now. */
static bool may_wait(int err)
{
	if (!err)
		waiting_ms = 0;
	else if (!waiting_ms)
		waiting_ms = wv_clock_ms();
	return !err || (err == -EAGAIN && wv_clock_ms() - waiting_ms < PATIENCE_MS);
}

int wv_server_end_tell(void)
{
	bool waits;
	int err;

	wv_stock_lock();
	wv_partners_look_after();
	err = tell_all(WV_PAIR_USED) ?: tell_all(WV_PAIR_DROP);
	waits = may_wait(err);
	wv_stock_unlock();
	if (waits)
		return 0;
	if (!wv_keeper_has_lost(err))
		wv_keeper_shut();
	return err;
}

/* A queue pair that was connected, in *@y. False: there is none. */
static bool next_connected(struct wv_young_qp *y)
{
	struct wv_young_qp *found;

	wv_stock_lock();
	found = wv_end_with_news(1u << WV_PAIR_CONNECTED);
	if (found) {
		*y = *found;
		wv_partner_told(found, WV_PAIR_CONNECTED);
	}
	wv_stock_unlock();
	return found;
}

/* Notes from where queue pairs of the shape are connected (NULL: nothing). False: it is gone. */
static bool is_at(uint64_t number, const uint8_t *gid)
{
	struct wv_shape *shape;

	wv_stock_lock();
	shape = wv_shape_numbered(number);
	if (shape && gid)
		memcpy(shape->gid, gid, sizeof(shape->gid));
	wv_stock_unlock();
	return shape;
}

/* If it is lost, the next one says the same. */
static void say_connected(const struct wv_young_qp *y)
{
	struct wv_pair_note note = {.word = WV_PAIR_CONNECTED,
				    .shape = y->shape,
				    .qp_num = y->qp_num,
				    .peer_qp_num = y->peer.qp_num,
				    .by_request = y->by_request};

	memcpy(note.peer_gid, y->peer.gid, sizeof(note.peer_gid));
	if (!wv_aside_query_gid(y->key.context, y->port, y->sgid_index, note.gid) &&
	    is_at(y->shape, note.gid))
		wv_keeper_send(&note, 0);
}

/* The maker's lock keeps the context open, if the shape is still there. */
static bool tell_one_connected(void)
{
	struct wv_young_qp y;
	bool found;

	wv_worker_lock_last(&wv_making);
	found = next_connected(&y);
	if (found && is_at(y.shape, NULL))
		say_connected(&y);
	wv_worker_unlock(&wv_making);
	return found;
}

static bool end_lost(void)
{
	bool any_left;

	wv_stock_lock();
	any_left = wv_ends_end_lost(wv_clock_ms());
	wv_stock_unlock();
	return any_left;
}

bool wv_server_end_look(void)
{
	while (tell_one_connected())
		;
	wv_server_end_tell();
	return end_lost();
}

bool wv_server_end_lose(void)
{
	wv_stock_lock();
	wv_ends_lose(wv_clock_ms());
	waiting_ms = 0;
	wv_stock_unlock();
	wv_keeper_disconnect();
	return end_lost();
}

/* Whether any end in a state of @states uses @object. */
static bool any_in(uint32_t states, const void *object)
{
	bool any;

	wv_stock_lock();
	any = wv_young_in(states, object);
	wv_stock_unlock();
	return any;
}

/*
 * The ends that use @object are to leave. A context that is closed ends the program's queue pairs,
 * too.
 */
static void announce(const void *object)
{
	struct wv_young_qp *y;

	wv_stock_lock();
	while ((y = wv_young_in(WV_YOUNG_UNTAKEN, object)))
		wv_partner_leave(y, WV_PAIR_ENDED);
	if (object)
		wv_partners_close(object);
	wv_stock_unlock();
}

bool wv_server_end_withdraw(const void *object)
{
	uint64_t until_ms = wv_clock_ms() + DROPPED_MS;

	announce(object);
	if (!any_in(WV_YOUNG_BITS(WV_YOUNG_LEAVING, WV_YOUNG_LOST), object))
		return false;
	wv_server_end_tell();
	while (any_in(WV_YOUNG_BIT(WV_YOUNG_LEAVING), object) && wv_clock_ms() < until_ms)
		usleep(LOOK_US);
	return true;
}

bool wv_server_end_any(void)
{
	bool any;

	wv_stock_lock();
	any = wv_ends_any();
	wv_stock_unlock();
	return any;
}
