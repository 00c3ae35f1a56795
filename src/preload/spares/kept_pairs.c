/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/kept_pairs.h"

#include "base/base.h"
#include "base/clock.h"
#include "preload/core/counters.h"
#include "preload/spares/aside_qp.h"
#include "preload/spares/keeper_sock.h"
#include "preload/spares/locks.h"
#include "preload/spares/maker_sleep.h"
#include "preload/spares/pair_end.h"

#include <errno.h>

#define CONNECTED  16 /* connections that were not reported; further ones are not */
#define DROPPED_MS WV_WAIT_MS
#define LOOK_US	   500

#define UNTAKEN (WV_END_BIT(WV_END_READY) | WV_END_BIT(WV_END_CLAIMED))
#define TAKEN	(WV_END_BIT(WV_END_TAKEN) | WV_END_BIT(WV_END_PARTED))

/* Guarded by the lock of the stock. */
static struct connected {
	uint64_t shape;
	uint32_t qp_num;
	struct wv_connection as;
} connected[CONNECTED] WV_COLD(1);
static unsigned int n_connected;
static bool stopped;

/* Takes a spare for @end, which is filled in but for the peer. */
static enum wv_pair_why take(const struct wv_pair_note *ask, struct wv_pair_end *end)
{
	struct wv_shape *shape = wv_stock_numbered(ask->shape);

	if (stopped || !wv_pair_end_has_room())
		return WV_PAIR_NO_SPARE;
	if (!shape)
		return WV_PAIR_UNKNOWN;
	if (shape->connected < WV_STOCK_AGREE)
		return WV_PAIR_ATTRIBUTES;
	shape->demand++; /* so that there is another one, for the program or a further pair */
	*end = (struct wv_pair_end){
	    .state = WV_END_READY,
	    .key = shape->key,
	    .moves = shape->moves,
	    .made = shape->connection,
	    .ahead = true,
	};
	return wv_stock_take(shape, &end->spare) ? WV_PAIR_NO_REASON : WV_PAIR_NO_SPARE;
}

static int connect_end(struct wv_pair_end *end, const struct wv_pair_note *ask)
{
	struct ibv_qp *qp = end->spare.qp;
	struct wv_peer *peer = &end->made.peer;
	struct ibv_qp_attr attr;
	int error, mask;

	if (end->spare.ring.bytes && !end->spare.ring.at)
		return ENODATA; /* receives could not be put back */
	*peer =
	    (struct wv_peer){.qp_num = ask->qp_num, .rq_psn = ask->peer_psn, .sq_psn = ask->psn};
	memcpy(peer->gid, ask->gid, sizeof(peer->gid));
	error = wv_aside_query_gid(qp->context, (uint8_t)end->made.rtr.port,
				   (int)end->made.rtr.sgid_index, end->note.gid);
	for (enum ibv_qp_state to = IBV_QPS_RTR; to <= IBV_QPS_RTS && !error; to++) {
		mask = wv_connection_get(&end->made, to, &attr);
		error = wv_aside_modify_qp(qp, &attr, mask);
	}
	qp->state = IBV_QPS_RESET;
	return error;
}

/* @end is what the client's end is told of. */
static void describe(struct wv_pair_end *end, const struct wv_pair_note *ask)
{
	struct wv_pair_note *note = &end->note;
	uint8_t gid[sizeof(note->gid)];

	memcpy(gid, note->gid, sizeof(gid));
	*note = *ask;
	note->word = WV_PAIR_MADE;
	note->why = WV_PAIR_NO_REASON;
	note->qp_num = end->spare.qp->qp_num;
	note->peer_qp_num = ask->qp_num;
	memcpy(note->gid, gid, sizeof(gid));
	memcpy(note->peer_gid, ask->gid, sizeof(note->peer_gid));
}

static void say(const struct wv_pair_note *about, enum wv_pair_word word, enum wv_pair_why why)
{
	const struct wv_pair_note note = wv_pair_note_as(about, word, why);

	wv_keeper_say(&note);
}

/* Under one hold of the maker's lock: a spare that is in no table must not be met by a destroy. */
static void make(const struct wv_pair_note *ask)
{
	struct wv_pair_end end;
	enum wv_pair_why why;

	wv_making_lock_last();
	wv_stock_lock();
	why = take(ask, &end);
	wv_stock_unlock();
	if (!why && connect_end(&end, ask)) {
		wv_aside_destroy_qp(end.spare.qp);
		why = WV_PAIR_KERNEL;
	}
	wv_stock_lock();
	if (!why) {
		describe(&end, ask);
		wv_pair_end_add(&end);
		wv_count(&wv_counters.pairs_made);
		wv_keeper_say(&end.note);
	} else {
		say(ask, WV_PAIR_REFUSED, why);
	}
	wv_stock_unlock();
	wv_making_unlock();
	wv_maker_call(); /* there is one spare less */
}

static bool hear_ask(const struct wv_pair_note *note)
{
	bool is_known;

	wv_stock_lock();
	is_known = wv_pair_end_find(note->pair);
	wv_stock_unlock();
	if (is_known || !wv_pair_ask_is_sound(note))
		return false;
	make(note);
	return true;
}

static bool hear_claimed(const struct wv_pair_note *note)
{
	struct wv_pair_end *end;

	wv_stock_lock();
	end = wv_pair_end_find(note->pair);
	if (end && end->state == WV_END_READY)
		end->state = WV_END_CLAIMED;
	wv_stock_unlock();
	return true;
}

/* Frees @end, if it is in one of @states. Returns its queue pair if nobody else destroys it. */
static struct ibv_qp *drop(struct wv_pair_end *end, uint32_t states)
{
	bool is_taken;

	if (!end || !(states & WV_END_BIT(end->state)))
		return NULL;
	is_taken = TAKEN & WV_END_BIT(end->state);
	wv_pair_end_free(end);
	return is_taken ? NULL : end->spare.qp;
}

/*
 * The client's end is no part of the pair any more. Nor is this one, once that is known: what the
 * program connects from now on, it connects as it asks.
 */
static bool hear_drop(const struct wv_pair_note *note)
{
	struct wv_pair_end *end;
	struct ibv_qp *qp;

	wv_making_lock_last();
	wv_stock_lock();
	end = wv_pair_end_find(note->pair);
	if (end)
		end->gone = true;
	qp = drop(end, UNTAKEN | WV_END_BIT(WV_END_PARTED) | WV_END_BIT(WV_END_LEAVING));
	say(note, WV_PAIR_DROPPED, WV_PAIR_NO_REASON);
	wv_stock_unlock();
	if (qp)
		wv_aside_destroy_qp(qp);
	wv_making_unlock();
	return true;
}

static bool hear_dropped(const struct wv_pair_note *note)
{
	struct ibv_qp *qp;

	wv_making_lock_last();
	wv_stock_lock();
	qp = drop(wv_pair_end_find(note->pair),
		  WV_END_BIT(WV_END_PARTED) | WV_END_BIT(WV_END_LEAVING));
	wv_stock_unlock();
	if (qp)
		wv_aside_destroy_qp(qp);
	wv_making_unlock();
	return true;
}

/* It is destroyed once the client's end is no part of the pair any more. */
static bool hear_leave(const struct wv_pair_note *note)
{
	struct wv_pair_end *end;

	wv_stock_lock();
	end = wv_pair_end_find(note->pair);
	if (end && UNTAKEN & WV_END_BIT(end->state)) {
		end->state = WV_END_LEAVING;
		say(&end->note, WV_PAIR_DROP, WV_PAIR_MOVED);
	}
	wv_stock_unlock();
	return true;
}

bool wv_kept_pairs_hear(const struct wv_pair_note *note)
{
	static bool (*const hear[WV_PAIR_WORDS])(const struct wv_pair_note *note) = {
	    [WV_PAIR_ASK] = hear_ask,	  [WV_PAIR_CLAIMED] = hear_claimed,
	    [WV_PAIR_DROP] = hear_drop,	  [WV_PAIR_DROPPED] = hear_dropped,
	    [WV_PAIR_LEAVE] = hear_leave,
	};

	return note->word < WV_PAIR_WORDS && hear[note->word] && hear[note->word](note);
}

void wv_kept_pairs_lose(void)
{
	wv_stock_lock();
	wv_pair_ends_lost(wv_keeper_has_left());
	n_connected = 0;
	wv_stock_unlock();
	wv_keeper_disconnect();
}

/*
 * The ends that use @object are to leave. A context that is closed ends the program's queue pairs,
 * too. Returns whether any end in one of @states uses @object.
 */
static bool announce(const void *object, uint32_t states)
{
	struct wv_pair_end *end;
	bool any;

	wv_stock_lock();
	while ((end = wv_pair_end_in(UNTAKEN, object))) {
		end->state = WV_END_LEAVING;
		say(&end->note, WV_PAIR_DROP, WV_PAIR_ENDED);
	}
	while (object && (end = wv_pair_end_in(TAKEN, object)) && end->key.context == object) {
		if (!end->gone)
			say(&end->note, WV_PAIR_DROP, WV_PAIR_ENDED);
		wv_pair_end_free(end);
	}
	any = wv_pair_end_in(states, object);
	wv_stock_unlock();
	return any;
}

static bool is_leaving(const void *object)
{
	bool leaving;

	wv_stock_lock();
	leaving = wv_pair_end_in(WV_END_BIT(WV_END_LEAVING), object);
	wv_stock_unlock();
	return leaving;
}

static bool destroy_one(uint32_t states, const void *object)
{
	struct ibv_qp *qp;

	wv_stock_lock();
	qp = drop(wv_pair_end_in(states, object), states);
	wv_stock_unlock();
	if (qp)
		wv_aside_destroy_qp(qp);
	return qp;
}

bool wv_kept_pairs_withdraw(const void *object)
{
	uint32_t states = WV_END_BIT(WV_END_LEAVING) | (object ? WV_END_BIT(WV_END_LOST) : 0);
	uint64_t until_ms = wv_clock_ms() + DROPPED_MS;

	if (!wv_pair_end_any() || !announce(object, states))
		return false;
	wv_keeper_flush();
	while (is_leaving(object) && wv_clock_ms() < until_ms)
		usleep(LOOK_US);
	wv_making_lock();
	while (destroy_one(states, object))
		;
	wv_making_unlock();
	return true;
}

void wv_kept_pairs_note_connected(uint64_t number, const struct ibv_qp *qp,
				  const struct wv_connection *connection)
{
	if (n_connected < CONNECTED)
		connected[n_connected++] = (struct connected){number, qp->qp_num, *connection};
}

/* NULL: there is none; otherwise the context of *@c. */
static struct ibv_context *next_connected(struct connected *c)
{
	const struct wv_shape *shape = NULL;
	struct ibv_context *context;

	wv_stock_lock();
	while (n_connected && !shape) {
		*c = connected[--n_connected];
		shape = stopped ? NULL : wv_stock_numbered(c->shape);
	}
	context = shape ? shape->key.context : NULL;
	wv_stock_unlock();
	return context;
}

static void report(const struct connected *c, struct ibv_context *context)
{
	struct wv_pair_note note = {
	    .word = WV_PAIR_CONNECTED,
	    .shape = c->shape,
	    .qp_num = c->qp_num,
	    .peer_qp_num = c->as.peer.qp_num,
	    .by_request = c->as.by_request,
	};

	memcpy(note.peer_gid, c->as.peer.gid, sizeof(note.peer_gid));
	if (wv_aside_query_gid(context, (uint8_t)c->as.rtr.port, (int)c->as.rtr.sgid_index,
			       note.gid))
		return;
	wv_stock_lock();
	wv_keeper_say(&note);
	wv_stock_unlock();
}

/* The maker's lock keeps the context open. */
static bool report_one(void)
{
	struct ibv_context *context;
	struct connected c = {.shape = 0};

	wv_making_lock_last();
	context = next_connected(&c);
	if (context)
		report(&c, context);
	wv_making_unlock();
	return context;
}

void wv_kept_pairs_report_connected(void)
{
	while (report_one())
		;
}

bool wv_kept_pairs_has_news(void)
{
	return n_connected || wv_keeper_has_notes();
}

void wv_kept_pairs_stop(void)
{
	wv_stock_lock();
	stopped = true;
	wv_pair_ends_lost(true);
	wv_stock_unlock();
	wv_keeper_flush(); /* that an end is used, for one */
	wv_keeper_shut();
}

void wv_kept_pairs_forked(void)
{
	n_connected = 0;
	wv_pair_ends_forked();
}
