/* SPDX-License-Identifier: BSD-2-Clause */
/* A server's ends of pairs, and how its program connects: without any verb. */
#include "preload/spares/pair_end.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <string.h>

#define RTR_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static struct ibv_context context;
static struct ibv_pd pd = {.context = &context};
static struct ibv_cq cq, other_cq;
static struct ibv_qp qps[WV_PAIR_ENDS + 1];
static const struct wv_request none;

static struct wv_qp_key key_of(struct ibv_cq *of)
{
	struct ibv_qp_init_attr attr = {.send_cq = of, .recv_cq = of, .qp_type = IBV_QPT_RC};
	struct wv_qp_key key;

	wv_qp_key_set(&key, &pd, &attr);
	return key;
}

static struct wv_pair_end *add(uint64_t pair, enum wv_end_state state)
{
	struct wv_pair_end end = {
	    .state = state, .note.pair = pair, .key = key_of(&cq), .spare.qp = &qps[pair]};

	assert_true(wv_pair_end_has_room());
	wv_pair_end_add(&end);
	return wv_pair_end_find(pair);
}

static int begin(void **state)
{
	(void)state;
	wv_stock_forget();
	for (unsigned int i = 0; wv_pair_end_at(i); i++)
		if (wv_pair_end_at(i)->state != WV_END_FREE)
			wv_pair_end_free(wv_pair_end_at(i));
	assert_false(wv_pair_end_any());
	return 0;
}

static void test_the_only_claimed_is_named(void **state)
{
	struct wv_qp_key key = key_of(&cq), other = key_of(&other_cq);
	struct wv_pair_end *one, *two;

	(void)state;
	add(3, WV_END_READY);
	one = add(1, WV_END_READY);
	two = add(2, WV_END_TAKEN);
	assert_null(wv_pair_end_named(&key, &none));
	one->state = WV_END_CLAIMED;
	assert_ptr_equal(wv_pair_end_named(&key, &none), one);
	assert_null(wv_pair_end_named(&other, &none));
	two->state = WV_END_CLAIMED;
	assert_null(wv_pair_end_named(&key, &none));
	wv_pair_end_free(one);
	assert_ptr_equal(wv_pair_end_named(&key, &none), two);
}

static struct wv_pair_end *add_for_request(uint64_t pair, const struct wv_request *of)
{
	struct wv_pair_end *end = add(pair, WV_END_CLAIMED);

	end->made.by_request = true;
	end->note.peer_qp_num = of->qp_num;
	memcpy(end->note.peer_gid, of->gid, sizeof(of->gid));
	return end;
}

static void test_a_request_names_one_of_several(void **state)
{
	const struct wv_request first = {{1}, 7}, second = {{2}, 7}, unknown = {{1}, 8};
	struct wv_qp_key key = key_of(&cq), other = key_of(&other_cq);
	struct wv_pair_end *one, *two, *raw;

	(void)state;
	one = add_for_request(1, &first);
	two = add_for_request(2, &second);
	assert_ptr_equal(wv_pair_end_named(&key, &first), one);
	assert_ptr_equal(wv_pair_end_named(&key, &second), two);
	assert_null(wv_pair_end_named(&key, &unknown));
	assert_null(wv_pair_end_named(&other, &first));
	assert_null(wv_pair_end_named(&key, &none));
	raw = add(3, WV_END_CLAIMED);
	assert_ptr_equal(wv_pair_end_named(&key, &none), raw);
	one->state = WV_END_READY; /* the client has not got it: its number may be another's */
	assert_null(wv_pair_end_named(&key, &first));
}

static void test_found_by_queue_pair(void **state)
{
	(void)state;
	add(1, WV_END_CLAIMED);
	assert_null(wv_pair_end_of(&qps[1]));
	wv_pair_end_find(1)->state = WV_END_TAKEN;
	assert_ptr_equal(wv_pair_end_of(&qps[1]), wv_pair_end_find(1));
	wv_pair_end_find(1)->state = WV_END_LEAVING;
	assert_null(wv_pair_end_of(&qps[1]));
}

static void test_number_0_names_none(void **state)
{
	(void)state;
	add(0, WV_END_TAKEN);
	assert_null(wv_pair_end_find(0));
}

static void test_full(void **state)
{
	(void)state;
	for (uint64_t pair = 1; pair <= WV_PAIR_ENDS; pair++)
		add(pair, WV_END_READY);
	assert_false(wv_pair_end_has_room());
	wv_pair_end_free(wv_pair_end_find(7));
	assert_true(wv_pair_end_has_room());
}

/* What the program has stays as it is; the rest is of no use any more. */
static void test_daemon_gone(void **state)
{
	(void)state;
	add(1, WV_END_CLAIMED);
	add(2, WV_END_TAKEN);
	wv_pair_ends_lost(false);
	assert_null(wv_pair_end_find(1));
	assert_non_null(wv_pair_end_in(WV_END_BIT(WV_END_LOST), &pd));
	assert_false(wv_pair_end_of(&qps[2])->gone);
	wv_pair_ends_lost(true);
	assert_true(wv_pair_end_of(&qps[2])->gone);
}

static void test_too_many_lost(void **state)
{
	(void)state;
	for (uint64_t pair = 1; pair <= WV_PAIR_ENDS_LOST; pair++)
		add(pair, WV_END_READY);
	assert_true(wv_pair_end_has_room());
	wv_pair_ends_lost(false);
	assert_false(wv_pair_end_has_room());
}

static void test_child(void **state)
{
	(void)state;
	add(1, WV_END_READY);
	add(2, WV_END_TAKEN);
	add(3, WV_END_LEAVING);
	wv_pair_ends_forked();
	assert_null(wv_pair_end_in(~WV_END_BIT(WV_END_TAKEN) & ~WV_END_BIT(WV_END_FREE), NULL));
	assert_non_null(wv_pair_end_of(&qps[2]));
	assert_null(wv_pair_end_find(2));
}

static struct ibv_qp_attr attr_of(uint32_t peer)
{
	struct ibv_qp_attr attr = {
	    .path_mtu = IBV_MTU_1024,
	    .dest_qp_num = peer,
	    .rq_psn = peer + 1,
	    .sq_psn = peer + 2,
	    .max_dest_rd_atomic = 1,
	    .min_rnr_timer = 12,
	    .timeout = 14,
	    .retry_cnt = 7,
	    .rnr_retry = 6,
	    .max_rd_atomic = 2,
	    .ah_attr = {.is_global = 1,
			.port_num = 1,
			.sl = 3,
			.grh = {.sgid_index = 1, .hop_limit = 64, .traffic_class = 5}},
	};

	memset(&attr.ah_attr.grh.dgid, (int)peer, sizeof(attr.ah_attr.grh.dgid));
	return attr;
}

static struct wv_connection connection_to(uint32_t peer)
{
	struct wv_connection c = {.rtr.mask = 0};
	struct ibv_qp_attr attr = attr_of(peer);

	attr.qp_state = IBV_QPS_RTR;
	assert_true(wv_connection_set(&c, &attr, RTR_MASK));
	attr.qp_state = IBV_QPS_RTS;
	assert_true(wv_connection_set(&c, &attr, RTS_MASK));
	return c;
}

static void test_connection_as_it_was(void **state)
{
	struct wv_connection c = connection_to(9);
	struct ibv_qp_attr attr, expected = attr_of(9);

	(void)state;
	assert_int_equal(wv_connection_get(&c, IBV_QPS_RTR, &attr), RTR_MASK);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(attr.dest_qp_num, 9);
	assert_int_equal(attr.rq_psn, 10);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	assert_int_equal(attr.min_rnr_timer, 12);
	assert_int_equal(attr.ah_attr.sl, 3);
	assert_int_equal(attr.ah_attr.grh.traffic_class, 5);
	assert_int_equal(attr.ah_attr.grh.sgid_index, 1);
	assert_memory_equal(&attr.ah_attr.grh.dgid, &expected.ah_attr.grh.dgid, 16);
	assert_int_equal(wv_connection_get(&c, IBV_QPS_RTS, &attr), RTS_MASK);
	assert_int_equal(attr.sq_psn, 11);
	assert_int_equal(attr.timeout, 14);
	assert_int_equal(attr.max_rd_atomic, 2);
}

static void test_unusual_connections(void **state)
{
	struct ibv_qp_attr attr = attr_of(9);
	struct wv_connection c;

	(void)state;
	attr.qp_state = IBV_QPS_RTR;
	assert_false(wv_connection_set(&c, &attr, RTR_MASK | IBV_QP_ALT_PATH));
	assert_false(wv_connection_set(&c, &attr, RTR_MASK & ~IBV_QP_MIN_RNR_TIMER));
	assert_false(wv_connection_set(&c, &attr, RTR_MASK & ~IBV_QP_STATE));
	attr.ah_attr.is_global = 0;
	assert_false(wv_connection_set(&c, &attr, RTR_MASK));
	attr.qp_state = IBV_QPS_RTS;
	assert_false(wv_connection_set(&c, &attr, RTS_MASK | IBV_QP_RATE_LIMIT));
	assert_false(wv_connection_set(&c, &attr, RTS_MASK | IBV_QP_PATH_MIG_STATE));
	attr.qp_state = IBV_QPS_INIT;
	assert_false(wv_connection_set(&c, &attr, RTR_MASK));
}

/* The peers differ, and what else the program asks for is the same. */
static void test_connections_that_agree(void **state)
{
	struct wv_connection one = connection_to(1), two = connection_to(2);

	(void)state;
	assert_true(wv_connect_steps_agree(&one.rtr, &two.rtr));
	assert_true(wv_connect_steps_agree(&one.rts, &two.rts));
	two.rtr.flow_label++;
	assert_true(wv_connect_steps_agree(&one.rtr, &two.rtr));
	two.rts.timeout++;
	assert_false(wv_connect_steps_agree(&one.rts, &two.rts));
}

/* A shape with spares, and its number. */
static uint64_t connect(unsigned int n, const struct wv_connection *as)
{
	struct wv_qp_key key = key_of(&cq);
	uint64_t number = 0;

	while (n--) {
		struct wv_shape *shape = wv_stock_ask(&key, 0);

		shape->wanted = 2;
		shape->is_stocked = true;
		number = wv_stock_connected(&key, as);
	}
	return number;
}

static void test_shape_is_learned(void **state)
{
	struct wv_connection one = connection_to(1), other = connection_to(2);
	uint64_t number;

	(void)state;
	other.rtr.mtu++;
	assert_int_equal(connect(WV_STOCK_AGREE - 1, &one), 0);
	number = connect(1, &one);
	assert_int_not_equal(number, 0);
	assert_non_null(wv_stock_numbered(number));
	assert_int_equal(connect(1, &other), 0);
	assert_int_equal(connect(WV_STOCK_AGREE - 1, &one), 0);
	assert_int_equal(connect(1, &one), number);
	assert_int_equal(connect(1, NULL), 0);
	assert_int_equal(connect(WV_STOCK_AGREE - 1, &one), 0);
	assert_int_equal(connect(1, &one), number);
	one.by_request = true;
	assert_int_equal(connect(WV_STOCK_AGREE - 1, &one), 0);
	assert_int_equal(connect(1, &one), number);
}

/* A shape that comes after has a number of its own, even at the same place. */
static void test_numbers_are_not_used_again(void **state)
{
	struct wv_connection one = connection_to(1);
	uint64_t number = connect(WV_STOCK_AGREE, &one);

	(void)state;
	wv_stock_forget();
	assert_null(wv_stock_numbered(number));
	assert_true(connect(WV_STOCK_AGREE, &one) > number);
	assert_null(wv_stock_numbered(number));
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
	    cmocka_unit_test_setup(test_child, begin),
	    cmocka_unit_test_setup(test_connection_as_it_was, begin),
	    cmocka_unit_test_setup(test_unusual_connections, begin),
	    cmocka_unit_test_setup(test_connections_that_agree, begin),
	    cmocka_unit_test_setup(test_shape_is_learned, begin),
	    cmocka_unit_test_setup(test_numbers_are_not_used_again, begin),
	};

	return cmocka_run_group_tests_name("pair_ends", tests, NULL, NULL);
}
