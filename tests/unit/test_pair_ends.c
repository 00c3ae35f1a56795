/* SPDX-License-Identifier: BSD-2-Clause */
/* A server's ends of pairs, from their reservation to their connection: without any verb. */
#include "cmdlog/difference.h"
#include "preload/client/daemon_connection.h"
#include "preload/pairs/partner.h"
#include "preload/pairs/requests.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <string.h>

#define RTR_MASK   (IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RTS_MASK   (IBV_QP_STATE | IBV_QP_SQ_PSN)
#define NEWS(word) (1u << (word))

static struct ibv_context context, other_context;
static struct ibv_pd pd = {.context = &context};
static struct ibv_cq cq, other_cq;
static struct ibv_qp qps[WV_YOUNG_PAIRED + 1];
static const struct wv_qp_peer none;

static struct wv_qp_key key_of(struct ibv_cq *of)
{
	struct ibv_qp_init_attr attr = {.send_cq = of, .recv_cq = of, .qp_type = IBV_QPT_RC};
	struct wv_qp_key key;

	wv_qp_key_set(&key, &pd, &attr);
	return key;
}

/* The partner of pair n is the queue pair n of the GID that consists of n. */
static struct wv_young_qp *add(uint64_t pair, enum wv_young_state state)
{
	struct wv_young_qp y = {.state = state, .key = key_of(&cq), .qp = &qps[pair]};

	y.partner.pair = pair;
	y.partner.peer = (struct wv_qp_peer){.qp_num = (uint32_t)pair, .psn = 11, .peer_psn = 12};
	memset(y.partner.peer.gid, (int)pair, sizeof(y.partner.peer.gid));
	assert_true(wv_ends_have_room());
	return wv_young_add(&y);
}

static int begin(void **state)
{
	struct wv_young_qp *y;

	(void)state;
	wv_stock_forked();
	while ((y = wv_young_in(~0u, NULL)))
		wv_young_enter(y, WV_YOUNG_NONE);
	assert_false(wv_young_any());
	return 0;
}

static void test_the_only_claimed_is_named(void **state)
{
	struct wv_qp_key key = key_of(&cq), other = key_of(&other_cq);
	struct wv_young_qp *one, *two;

	(void)state;
	add(3, WV_YOUNG_RESERVED);
	one = add(1, WV_YOUNG_RESERVED);
	two = add(2, WV_YOUNG_AHEAD);
	assert_null(wv_request_named(&key, &none));
	wv_young_enter(one, WV_YOUNG_CLAIMED);
	assert_ptr_equal(wv_request_named(&key, &none), one);
	assert_null(wv_request_named(&other, &none));
	wv_young_enter(two, WV_YOUNG_CLAIMED);
	assert_null(wv_request_named(&key, &none));
	wv_young_enter(one, WV_YOUNG_NONE);
	assert_ptr_equal(wv_request_named(&key, &none), two);
}

static struct wv_young_qp *add_for_request(uint64_t pair, const struct wv_qp_peer *of)
{
	struct wv_young_qp *y = add(pair, WV_YOUNG_CLAIMED);

	y->by_request = true;
	y->partner.peer = *of;
	return y;
}

static void test_a_request_names_one_of_several(void **state)
{
	const struct wv_qp_peer first = {7, {1}}, second = {7, {2}}, unknown = {8, {1}};
	struct wv_qp_key key = key_of(&cq), other = key_of(&other_cq);
	struct wv_young_qp *one, *two, *raw;

	(void)state;
	one = add_for_request(1, &first);
	two = add_for_request(2, &second);
	assert_ptr_equal(wv_request_named(&key, &first), one);
	assert_ptr_equal(wv_request_named(&key, &second), two);
	assert_null(wv_request_named(&key, &unknown));
	assert_null(wv_request_named(&other, &first));
	assert_null(wv_request_named(&key, &none));
	raw = add(3, WV_YOUNG_CLAIMED);
	assert_ptr_equal(wv_request_named(&key, &none), raw);
	/* The client has not got it: its number may be another's. */
	wv_young_enter(one, WV_YOUNG_RESERVED);
	assert_null(wv_request_named(&key, &first));
}

static void test_found_by_queue_pair(void **state)
{
	struct wv_young_qp *y = add(1, WV_YOUNG_CLAIMED);

	(void)state;
	assert_null(wv_young_find(&qps[1]));
	assert_false(wv_young_any());
	wv_young_enter(y, WV_YOUNG_AHEAD);
	assert_ptr_equal(wv_young_find(&qps[1]), y);
	assert_true(wv_young_any());
	wv_young_enter(y, WV_YOUNG_LEAVING);
	assert_null(wv_young_find(&qps[1]));
	assert_false(wv_young_any());
}

static void test_number_0_names_none(void **state)
{
	(void)state;
	add(0, WV_YOUNG_GROWN);
	assert_null(wv_end_of_pair(0));
}

static void test_full(void **state)
{
	(void)state;
	for (uint64_t pair = 1; pair <= WV_YOUNG_PAIRED; pair++)
		add(pair, WV_YOUNG_RESERVED);
	assert_false(wv_ends_have_room());
	wv_young_enter(wv_end_of_pair(7), WV_YOUNG_NONE);
	assert_true(wv_ends_have_room());
}

/* What the program has stays as it is; the rest is of no use any more. */
static void test_daemon_gone(void **state)
{
	struct wv_young_qp *taken;

	(void)state;
	add(1, WV_YOUNG_CLAIMED);
	taken = add(2, WV_YOUNG_GROWN);
	wv_ends_lose(0);
	assert_null(wv_end_of_pair(1));
	assert_non_null(wv_young_in(WV_YOUNG_BIT(WV_YOUNG_LOST), &pd));
	assert_true(wv_young_has_partner(taken));
}

static void lose_too_many(enum wv_young_state state)
{
	for (uint64_t pair = 1; pair <= WV_YOUNG_LOST_PAIRS; pair++)
		add(pair, state)->partner.claimed = state == WV_YOUNG_CLAIMED;
	assert_true(wv_ends_have_room());
	wv_ends_lose(1);
}

/* Each takes up a queue pair. */
static void test_too_many_lost(void **state)
{
	(void)state;
	lose_too_many(WV_YOUNG_CLAIMED);
	assert_false(wv_ends_have_room());
	assert_false(wv_ends_end_lost(1 + WV_ENDS_LOST_MS));
	assert_null(wv_young_in(WV_YOUNG_BIT(WV_YOUNG_OVER), &pd));
}

/* No program can name them, once their client's daemon has given up the others. */
static void test_lost_before_any_client_came(void **state)
{
	(void)state;
	lose_too_many(WV_YOUNG_RESERVED);
	assert_true(wv_ends_have_room());
	assert_true(wv_ends_end_lost(WV_ENDS_LOST_MS));
	assert_null(wv_young_in(WV_YOUNG_BIT(WV_YOUNG_OVER), &pd));
	assert_false(wv_ends_end_lost(1 + WV_ENDS_LOST_MS));
	assert_null(wv_young_in(~WV_YOUNG_BIT(WV_YOUNG_OVER), &pd));
}

static void test_child(void **state)
{
	(void)state;
	add(1, WV_YOUNG_RESERVED);
	add(2, WV_YOUNG_GROWN);
	add(3, WV_YOUNG_LEAVING);
	wv_young_forked();
	assert_null(wv_young_in(~WV_YOUNG_BIT(WV_YOUNG_GROWN), NULL));
	assert_true(wv_young_has_partner(wv_young_find(&qps[2])));
	assert_null(wv_end_of_pair(2));
}

static struct wv_ticket new_ticket(struct wv_tickets *tickets)
{
	struct wv_qp_key key = key_of(&cq);
	struct wv_ticket ticket;

	assert_true(wv_ticket_begin(tickets, &key, &ticket));
	wv_ticket_made(&ticket, 0);
	return ticket;
}

/* What the program does not have may be destroyed by either; of the other it is gone then. */
static void test_child_may_destroy_what_is_not_taken(void **state)
{
	struct wv_tickets *tickets = wv_tickets_new();
	struct wv_young_qp *y = add(1, WV_YOUNG_CLAIMED);
	struct wv_ticket childs;

	(void)state;
	y->ticket = childs = new_ticket(tickets);
	wv_partners_look_after();
	assert_int_equal(y->state, WV_YOUNG_CLAIMED);
	assert_true(wv_ticket_redeem(&childs));
	assert_false(wv_partner_take(y));
	assert_ptr_equal(wv_end_with_news(NEWS(WV_PAIR_DROP)), y);

	y = add(2, WV_YOUNG_RESERVED);
	y->ticket = childs = new_ticket(tickets);
	assert_true(wv_ticket_redeem(&childs));
	wv_partners_look_after();
	assert_int_equal(y->state, WV_YOUNG_PAST);

	y = add(3, WV_YOUNG_CLAIMED);
	y->ticket = childs = new_ticket(tickets);
	assert_true(wv_partner_take(y));
	assert_false(wv_ticket_redeem(&childs));
	wv_young_forked();
	assert_int_equal(y->state, WV_YOUNG_AHEAD);

	y = add(4, WV_YOUNG_LEAVING);
	wv_young_forked();
	assert_int_equal(y->state, WV_YOUNG_NONE);
	wv_tickets_free(tickets);
}

static struct ibv_qp_attr to(enum ibv_qp_state state, uint8_t pair)
{
	struct ibv_qp_attr attr = {.qp_state = state,
				   .dest_qp_num = pair,
				   .rq_psn = 1,
				   .sq_psn = 2,
				   .rnr_retry = 7,
				   .ah_attr = {.is_global = 1}};

	memset(&attr.ah_attr.grh.dgid, pair, sizeof(attr.ah_attr.grh.dgid));
	return attr;
}

static void test_the_partner_is_named(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9), rts = to(IBV_QPS_RTS, 9);

	(void)state;
	assert_int_equal(wv_partner_set_psns(y, &rts, RTS_MASK), WV_WHY_NONE);
	assert_int_equal(rts.sq_psn, 2);
	assert_int_equal(wv_partner_set_psns(y, &rtr, RTR_MASK), WV_WHY_NONE);
	assert_int_equal(rtr.rq_psn, 12);
	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	y->partner.gone = true; /* too late: it is as a peer that goes */
	assert_int_equal(wv_partner_set_psns(y, &rts, RTS_MASK), WV_WHY_NONE);
	assert_int_equal(rts.sq_psn, 11);
}

static void assert_not_named(struct wv_young_qp *y, struct ibv_qp_attr rtr, int mask,
			     enum wv_why why)
{
	assert_int_equal(wv_partner_set_psns(y, &rtr, mask), why);
	assert_int_equal(rtr.rq_psn, 1);
}

static void test_the_partner_is_not_named(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9);

	(void)state;
	assert_not_named(y, to(IBV_QPS_RTR, 8), RTR_MASK, WV_WHY_OTHER_PEER);
	assert_not_named(y, rtr, RTR_MASK & ~IBV_QP_AV, WV_WHY_OTHER_PEER);
	assert_not_named(y, rtr, RTR_MASK & ~IBV_QP_STATE, WV_WHY_NONE);
	assert_not_named(y, to(IBV_QPS_INIT, 9), RTR_MASK, WV_WHY_NONE);
	rtr.ah_attr.grh.dgid.raw[3]++;
	assert_not_named(y, rtr, RTR_MASK, WV_WHY_OTHER_PEER);
	y->partner.gone = true;
	assert_not_named(y, to(IBV_QPS_RTR, 9), RTR_MASK, WV_WHY_PEER_GONE);
}

/* A shape with @n spares that were made, of queue pairs that were moved nowhere. */
static void stock(unsigned int n)
{
	struct wv_young_qp spare = {
	    .state = WV_YOUNG_READY, .key = key_of(&cq), .cap.max_send_wr = 1};
	struct wv_shape *shape = wv_stock_ask(&spare.key, 0);

	shape->wanted = n;
	for (unsigned int i = 0; i < n; i++) {
		spare.qp = &qps[i];
		assert_true(wv_stock_add(&spare));
	}
	wv_shapes_number();
}

/* The program connects @n queue pairs. */
static uint64_t connect(unsigned int n, bool by_gid, bool by_request)
{
	struct wv_qp_key key = key_of(&cq);
	uint64_t number = 0;

	while (n--)
		number = wv_shape_connected(&key, by_gid, by_request);
	return number;
}

static void test_met(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9), rts = to(IBV_QPS_RTS, 9);

	(void)state;
	stock(1);
	connect(WV_STOCK_AGREE, true, false);
	wv_client_note_answer(WV_ANSWER_PAIRS);
	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	assert_int_equal(y->news, 0);
	wv_partner_note_move(y, y, &rts, RTS_MASK);
	assert_int_equal(y->news, NEWS(WV_PAIR_USED) | NEWS(WV_PAIR_CONNECTED));
	wv_partner_told(y, WV_PAIR_USED);
	assert_true(wv_young_any_news());
	wv_partner_told(y, WV_PAIR_CONNECTED);
	assert_false(wv_young_any_news());
	assert_int_equal(y->state, WV_YOUNG_CONNECTED);
}

/* A server that gives up soon would notice that the client's queue pair answers "not ready". */
static void test_met_by_a_server_without_patience(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9), rts = to(IBV_QPS_RTS, 9);

	(void)state;
	stock(1);
	connect(WV_STOCK_AGREE, true, false);
	wv_client_note_answer(WV_ANSWER_PAIRS);
	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	rts.rnr_retry = 6;
	wv_partner_note_move(y, y, &rts, RTS_MASK);
	assert_int_equal(y->news, NEWS(WV_PAIR_USED));
	assert_false(wv_shape_may_pair(wv_stock_find(&y->key)));
}

/* An end that both programs have used. */
static struct wv_young_qp *add_used(void)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9), rts = to(IBV_QPS_RTS, 9);

	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	wv_partner_note_move(y, y, &rts, RTS_MASK);
	wv_partner_told(y, WV_PAIR_USED);
	assert_int_equal(y->state, WV_YOUNG_CONNECTED);
	return y;
}

static void connect_again(struct wv_young_qp *y)
{
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9), rts = to(IBV_QPS_RTS, 9);
	struct ibv_qp_attr reset = to(IBV_QPS_RESET, 0);

	wv_partner_note_move(y, y, &reset, IBV_QP_STATE);
	assert_int_equal(wv_partner_set_psns(y, &rtr, RTR_MASK), WV_WHY_NONE);
	assert_int_equal(rtr.rq_psn, 12);
	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	assert_int_equal(wv_partner_set_psns(y, &rts, RTS_MASK), WV_WHY_NONE);
	assert_int_equal(rts.sq_psn, 11);
	wv_partner_note_move(y, y, &rts, RTS_MASK);
	assert_int_equal(y->state, WV_YOUNG_CONNECTED);
}

static void test_again(void **state)
{
	struct wv_young_qp *y = add_used();
	struct ibv_qp_attr drained = to(IBV_QPS_SQD, 0);

	(void)state;
	wv_partner_note_move(y, y, &drained, IBV_QP_STATE);
	assert_int_equal(y->state, WV_YOUNG_CONNECTED); /* it has its peer all the time */
	connect_again(y);
}

/* The number of its partner is any queue pair's. */
static void test_gone_after_use(void **state)
{
	struct wv_young_qp *y = add_used();

	(void)state;
	wv_partner_has_gone(y);
	assert_null(wv_young_find(&qps[9]));
	assert_int_equal(y->state, WV_YOUNG_NONE);
}

static void test_number_is_kept_after_use(void **state)
{
	struct wv_young_qp *y = add_used();

	(void)state;
	assert_true(wv_young_keeps_number(y));
	wv_ends_lose(0); /* nobody would ever say that it may go */
	assert_false(wv_young_keeps_number(y));
	assert_true(wv_young_has_partner(y));
	wv_partner_note_elsewhere(y); /* such as RESET, before it is destroyed */
	assert_false(wv_young_keeps_number(y));
}

static void connect_to_a_stranger(struct wv_young_qp *y)
{
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 8), rts = to(IBV_QPS_RTS, 8);

	assert_not_named(y, rtr, RTR_MASK, WV_WHY_OTHER_PEER);
	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	assert_int_equal(wv_partner_set_psns(y, &rts, RTS_MASK), WV_WHY_NONE);
	assert_int_equal(rts.sq_psn, 2);
	wv_partner_note_move(y, y, &rts, RTS_MASK);
	assert_int_equal(y->state, WV_YOUNG_CONNECTED);
}

/* The partner may have its end connected all the time, used before or not. */
static void test_connected_to_another_and_back(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr reset = to(IBV_QPS_RESET, 0);

	(void)state;
	connect_to_a_stranger(y);
	assert_int_equal(y->news, 0);
	connect_again(y);
	assert_int_equal(y->news, NEWS(WV_PAIR_USED));
	wv_partner_note_move(y, y, &reset, IBV_QP_STATE);
	connect_to_a_stranger(y);
	wv_ends_lose(0); /* nobody could tell the partner, either */
	connect_again(y);
}

static void test_connected_to_another_and_destroyed(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);

	(void)state;
	connect_to_a_stranger(y);
	wv_partner_leave(y, WV_PAIR_ENDED); /* its number stays */
	assert_int_equal(y->news, NEWS(WV_PAIR_DROP));
	assert_int_equal(y->state, WV_YOUNG_LEAVING);
	wv_partner_has_gone(y);
	assert_int_equal(y->state, WV_YOUNG_OVER);
}

static void test_connected_to_another_when_the_partner_goes(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);

	(void)state;
	connect_to_a_stranger(y);
	wv_partner_has_gone(y);
	assert_int_equal(y->state, WV_YOUNG_NONE);
}

/* It stops at RTR, and names its partner after that. */
static void test_turns_to_the_partner(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr other = to(IBV_QPS_RTR, 8), reset = to(IBV_QPS_RESET, 0);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9);

	(void)state;
	wv_partner_note_move(y, y, &other, RTR_MASK);
	wv_partner_note_move(y, y, &reset, IBV_QP_STATE);
	assert_int_equal(wv_partner_set_psns(y, &rtr, RTR_MASK), WV_WHY_NONE);
	assert_int_equal(rtr.rq_psn, 12);
}

/* The partner knows another address of this node than that from which the program connects. */
static void test_from_elsewhere(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9);

	(void)state;
	assert_true(wv_partner_is_named(y, &rtr, RTR_MASK));
	assert_false(wv_partner_is_named(y, &rtr, RTR_MASK & ~IBV_QP_STATE));
	y->is_elsewhere = true;
	assert_not_named(y, rtr, RTR_MASK, WV_WHY_OTHER_PEER);
}

/* Back in INIT, it may meet its partner all the same. */
static void test_moved_elsewhere(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);
	struct ibv_qp_attr rtr = to(IBV_QPS_RTR, 9), rts = to(IBV_QPS_RTS, 9);

	(void)state;
	wv_partner_note_move(y, y, &rtr, RTR_MASK);
	wv_partner_note_elsewhere(y);
	wv_partner_set_psns(y, &rts, RTS_MASK);
	assert_int_equal(rts.sq_psn, 2);
	assert_int_equal(wv_partner_set_psns(y, &rtr, RTR_MASK), WV_WHY_NONE);
	assert_int_equal(rtr.rq_psn, 12);
}

static void test_context_is_closed(void **state)
{
	struct wv_young_qp *y = add(9, WV_YOUNG_GROWN);

	(void)state;
	wv_partners_close(&other_context);
	assert_ptr_equal(wv_young_find(&qps[9]), y);
	wv_partners_close(&context);
	assert_null(wv_young_find(&qps[9]));
	assert_ptr_equal(wv_end_with_news(NEWS(WV_PAIR_DROP)), y);
	wv_partner_told(y, WV_PAIR_DROP);
	assert_int_equal(y->state, WV_YOUNG_NONE);
}

/* A spare of which nobody has heard anything yet is as the others again. */
static void test_given_up_before_it_was_taken(void **state)
{
	struct wv_qp_key key = key_of(&cq);
	struct wv_shape *shape;
	struct wv_young_qp *y;

	(void)state;
	stock(1);
	shape = wv_stock_ask(&key, 0);
	y = wv_stock_take(shape, WV_YOUNG_RESERVED);
	y->partner.peer.qp_num = 9;
	assert_null(wv_stock_take(shape, WV_YOUNG_RESERVED));
	wv_partner_has_gone(y);
	assert_ptr_equal(wv_stock_take(shape, WV_YOUNG_AHEAD), y);
	assert_false(wv_young_has_partner(y));
	wv_young_enter(y, WV_YOUNG_RESERVED);
	wv_stock_withdraw(&cq);
	wv_partner_has_gone(y); /* its shape is gone */
	assert_int_equal(y->state, WV_YOUNG_OVER);
}

static void test_shape_is_learned(void **state)
{
	uint64_t number;

	(void)state;
	stock(2);
	assert_int_equal(connect(WV_STOCK_AGREE - 1, true, false), 0);
	number = connect(1, true, false);
	assert_int_not_equal(number, 0);
	assert_non_null(wv_shape_numbered(number));
	assert_int_equal(connect(1, false, false), 0);
	assert_int_equal(connect(WV_STOCK_AGREE - 1, true, false), 0);
	assert_int_equal(connect(1, true, false), number);
	assert_int_equal(connect(WV_STOCK_AGREE - 1, true, true), 0);
	assert_int_equal(connect(1, true, true), number);
}

/* A peer would ask for spares in vain, and then wait for longer and longer. */
static void test_no_peer_hears_of_it_before_there_are_spares(void **state)
{
	struct wv_qp_key key = key_of(&cq);

	(void)state;
	wv_stock_ask(&key, 0)->wanted = 1;
	wv_shapes_number();
	assert_int_equal(connect(WV_STOCK_AGREE, true, false), 0);
	stock(1);
	assert_int_not_equal(connect(1, true, false), 0);
}

/* A shape that comes after has a number of its own, even at the same place. */
static void test_numbers_are_not_used_again(void **state)
{
	uint64_t number;

	(void)state;
	stock(1);
	number = connect(WV_STOCK_AGREE, true, false);
	wv_stock_forked();
	assert_null(wv_shape_numbered(number));
	stock(1);
	assert_int_not_equal(connect(WV_STOCK_AGREE, true, false), number);
	assert_null(wv_shape_numbered(number));
	assert_null(wv_shape_numbered(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_the_only_claimed_is_named, begin),
	    cmocka_unit_test_setup(test_a_request_names_one_of_several, begin),
	    cmocka_unit_test_setup(test_found_by_queue_pair, begin),
	    cmocka_unit_test_setup(test_number_0_names_none, begin),
	    cmocka_unit_test_setup(test_full, begin),
	    cmocka_unit_test_setup(test_daemon_gone, begin),
	    cmocka_unit_test_setup(test_too_many_lost, begin),
	    cmocka_unit_test_setup(test_lost_before_any_client_came, begin),
	    cmocka_unit_test_setup(test_child, begin),
	    cmocka_unit_test_setup(test_child_may_destroy_what_is_not_taken, begin),
	    cmocka_unit_test_setup(test_the_partner_is_named, begin),
	    cmocka_unit_test_setup(test_the_partner_is_not_named, begin),
	    cmocka_unit_test_setup(test_met, begin),
	    cmocka_unit_test_setup(test_met_by_a_server_without_patience, begin),
	    cmocka_unit_test_setup(test_again, begin),
	    cmocka_unit_test_setup(test_gone_after_use, begin),
	    cmocka_unit_test_setup(test_number_is_kept_after_use, begin),
	    cmocka_unit_test_setup(test_connected_to_another_and_back, begin),
	    cmocka_unit_test_setup(test_connected_to_another_and_destroyed, begin),
	    cmocka_unit_test_setup(test_connected_to_another_when_the_partner_goes, begin),
	    cmocka_unit_test_setup(test_turns_to_the_partner, begin),
	    cmocka_unit_test_setup(test_from_elsewhere, begin),
	    cmocka_unit_test_setup(test_moved_elsewhere, begin),
	    cmocka_unit_test_setup(test_context_is_closed, begin),
	    cmocka_unit_test_setup(test_given_up_before_it_was_taken, begin),
	    cmocka_unit_test_setup(test_shape_is_learned, begin),
	    cmocka_unit_test_setup(test_no_peer_hears_of_it_before_there_are_spares, begin),
	    cmocka_unit_test_setup(test_numbers_are_not_used_again, begin),
	};

	return cmocka_run_group_tests_name("pair_ends", tests, NULL, NULL);
}
