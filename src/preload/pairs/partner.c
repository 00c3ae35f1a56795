/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/partner.h"

#include "base/random.h"
#include "cmdlog/difference.h"
#include "preload/client/daemon_connection.h"
#include "preload/core/counters.h"

#include <string.h>

#define RNR_RETRY_FOR_EVER 7

enum wv_pair_why wv_pair_decide(const struct wv_qp_peer *partner, bool gone,
				const struct wv_qp_peer *named, bool from_here)
{
	if (!partner->qp_num || !from_here || !wv_qp_peer_is(partner, named))
		return WV_PAIR_OTHER_PEER;
	return gone ? WV_PAIR_ENDED : WV_PAIR_NO_REASON;
}

uint16_t wv_pair_why_not(enum wv_pair_why why)
{
	static const uint16_t reasons[WV_PAIR_WHYS] = {
	    [WV_PAIR_OTHER_PEER] = WV_WHY_OTHER_PEER,
	    [WV_PAIR_ENDED] = WV_WHY_PEER_GONE,
	    [WV_PAIR_ATTRIBUTES] = WV_WHY_OTHER_MOVES,
	};

	return reasons[why];
}

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

uint64_t wv_shape_connected(const struct wv_qp_key *key, bool usual, bool by_request)
{
	struct wv_shape *shape = wv_stock_find(key);

	if (!shape)
		return 0;
	if (!usual || shape->by_request != by_request)
		shape->connected = 0;
	if (!usual)
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

void wv_ends_lose(uint64_t now_ms)
{
	wv_each_young (y) {
		wv_young_set_news(y, 0);
		if (y->state == WV_YOUNG_PAST)
			wv_young_enter(y, WV_YOUNG_NONE);
		if (!wv_young_has_partner(y))
			continue;
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

static bool is_to(int state, const struct ibv_qp_attr *attr, int mask)
{
	return mask & IBV_QP_STATE && (int)attr->qp_state == state;
}

static enum wv_pair_why decide(const struct wv_young_qp *y, const struct ibv_qp_attr *attr,
			       int mask)
{
	const struct wv_qp_peer named = wv_qp_named_by(attr, mask);

	return wv_pair_decide(&y->partner.peer, y->partner.gone, &named, !y->is_elsewhere);
}

bool wv_partner_is_named(const struct wv_young_qp *y, const struct ibv_qp_attr *attr, int mask)
{
	return is_to(IBV_QPS_RTR, attr, mask) && !decide(y, attr, mask);
}

uint16_t wv_partner_set_psns(const struct wv_young_qp *y, struct ibv_qp_attr *attr, int mask)
{
	enum wv_pair_why why;

	if (is_to(IBV_QPS_RTS, attr, mask) && y->met)
		attr->sq_psn = y->partner.peer.psn;
	if (!is_to(IBV_QPS_RTR, attr, mask))
		return WV_WHY_NONE;
	why = decide(y, attr, mask);
	if (!why)
		attr->rq_psn = y->partner.peer.peer_psn;
	return wv_pair_why_not(why);
}

static void forget(struct wv_young_qp *y)
{
	y->partner = (struct wv_partner){.pair = 0};
	wv_young_enter(y, WV_YOUNG_NONE);
}

static void add_news(struct wv_young_qp *y, enum wv_pair_word word)
{
	wv_young_set_news(y, y->news | 1u << word);
}

/* @met: towards the partner. */
static void note_rtr(struct wv_young_qp *y, bool met, const struct ibv_qp_attr *attr, int mask)
{
	y->met = met;
	y->peer = wv_qp_named_by(attr, mask);
	y->port = attr->ah_attr.port_num;
	y->sgid_index = attr->ah_attr.grh.sgid_index;
}

/* It is of interest only until the daemon has heard its news. */
static void pass(struct wv_young_qp *y)
{
	if (y->news)
		wv_young_enter(y, WV_YOUNG_PAST);
	else
		forget(y);
}

/*
 * The client's end of a pair would answer at once, with "not ready", what the queue pair of a plain
 * client does not hear: a server that gives up soon would notice.
 */
static bool may_have_pairs(const struct wv_young_qp *y, const struct ibv_qp_attr *rts)
{
	return y->peer.qp_num && rts->rnr_retry == RNR_RETRY_FOR_EVER;
}

static void note_rts(struct wv_young_qp *y, const struct ibv_qp_attr *rts)
{
	uint64_t shape;

	/* The program may turn to the partner, whose end may be connected all the time. */
	if (!y->met && wv_young_has_partner(y)) {
		wv_young_enter(y, WV_YOUNG_CONNECTED);
		return;
	}
	shape = wv_shape_connected(&y->key, may_have_pairs(y, rts), y->by_request);
	if (y->met)
		wv_count(&wv_counters.pairs_used);
	y->shape = wv_client_allows_pairs() ? shape : 0;
	if (y->shape)
		add_news(y, WV_PAIR_CONNECTED);
	if (!wv_young_has_partner(y)) {
		pass(y);
		return;
	}
	wv_young_enter(y, WV_YOUNG_CONNECTED);
	y->used = true;
	if (y->partner.pair)
		add_news(y, WV_PAIR_USED);
}

void wv_partner_note_elsewhere(struct wv_young_qp *y)
{
	y->met = y->was_reset = false;
	if (wv_young_has_partner(y))
		wv_young_enter(y, WV_YOUNG_GROWN);
	else
		forget(y);
}

void wv_partner_note_move(struct wv_young_qp *y, const struct wv_young_qp *was,
			  const struct ibv_qp_attr *attr, int mask)
{
	if (y->state == WV_YOUNG_CONNECTED && attr->qp_state != IBV_QPS_RESET)
		return;
	if (y->state == WV_YOUNG_GROWN && attr->qp_state == IBV_QPS_RTR)
		note_rtr(y, !decide(was, attr, mask), attr, mask);
	else if (y->state == WV_YOUNG_GROWN && attr->qp_state == IBV_QPS_RTS)
		note_rts(y, attr);
	else
		wv_partner_note_elsewhere(y);
}

void wv_partner_leave(struct wv_young_qp *y, enum wv_pair_why why)
{
	wv_young_enter(y, y->partner.pair ? WV_YOUNG_LEAVING : WV_YOUNG_LOST);
	if (!y->partner.pair)
		return;
	add_news(y, WV_PAIR_DROP);
	y->why = (uint16_t)why;
}

/* @y is destroyed, whatever its partner knows. */
static void end(struct wv_young_qp *y)
{
	wv_partner_leave(y, WV_PAIR_ENDED);
	pass(y);
}

void wv_partners_close(const void *context)
{
	wv_each_young (y)
		if (y->key.context == context && WV_YOUNG_BIT(y->state) & WV_YOUNG_OF_PROGRAM)
			end(y);
}

bool wv_partner_take(struct wv_young_qp *y)
{
	bool taken = wv_ticket_redeem(&y->ticket);

	if (taken)
		wv_young_enter(y, WV_YOUNG_AHEAD);
	else
		end(y);
	return taken;
}

void wv_partners_look_after(void)
{
	wv_each_young (y)
		if (WV_YOUNG_BIT(y->state) & WV_YOUNG_UNTAKEN && !wv_ticket_is_good(&y->ticket))
			end(y);
}

void wv_partner_told(struct wv_young_qp *y, enum wv_pair_word word)
{
	wv_young_set_news(y, y->news & ~(1u << word));
	if (y->state == WV_YOUNG_PAST && !y->news)
		forget(y);
}

void wv_partner_has_gone(struct wv_young_qp *y)
{
	wv_young_set_news(y, y->news & 1u << WV_PAIR_CONNECTED);
	y->partner.pair = 0;
	y->partner.gone = true;
	if (WV_YOUNG_BIT(y->state) & WV_YOUNG_UNTAKEN)
		wv_stock_return(y);
	else if (y->state == WV_YOUNG_LEAVING)
		wv_young_enter(y, WV_YOUNG_OVER);
	else if (y->state == WV_YOUNG_CONNECTED || y->state == WV_YOUNG_PAST)
		pass(y);
}
