/* SPDX-License-Identifier: BSD-2-Clause */
/* How many spares there should be, and which queue pairs are young: without any verb. */
#include "preload/spares/stock.h"
#include "preload/spares/young.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <string.h>

static struct ibv_context context;
static struct ibv_pd pd = {.context = &context};
static struct ibv_cq cq;
static struct ibv_qp qps[64];

static struct wv_qp_key key_of(uint32_t depth)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = &cq, .recv_cq = &cq, .cap.max_send_wr = depth, .qp_type = IBV_QPT_RC};
	struct wv_qp_key key;

	wv_qp_key_set(&key, &pd, &attr);
	return key;
}

static struct wv_init_moves moves_with(unsigned int access)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};
	struct wv_init_moves moves;

	memset(&moves, 0, sizeof(moves));
	moves.n = 1;
	assert_true(
	    wv_init_move_set(&moves.all[0], &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	return moves;
}

/* The program makes @n queue pairs of this key, each moved so. Returns whether the last one showed
 * the pattern. */
static bool make(const struct wv_qp_key *key, unsigned int access, unsigned int n, uint64_t now_ms)
{
	struct wv_init_moves moves = moves_with(access);
	bool shown = false;

	while (n--) {
		wv_stock_ask(key, now_ms);
		shown = wv_stock_agree(key, &moves);
	}
	return shown;
}

/* Makes what is lacking. Returns how many. */
static unsigned int fill(uint64_t now_ms)
{
	struct wv_order order;
	unsigned int n = 0;

	while (wv_stock_lacking(&order, now_ms)) {
		struct wv_spare spare = {.qp = &qps[n++]};

		assert_true(wv_stock_add(&order, &spare));
	}
	return n;
}

static int begin(void **state)
{
	(void)state;
	wv_stock_forget();
	wv_young_forget();
	return 0;
}

static void test_no_pattern(void **state)
{
	struct wv_qp_key one = key_of(1), other = key_of(2);

	(void)state;
	assert_false(make(&one, 0, WV_STOCK_AGREE - 1, 0));
	assert_false(make(&other, 0, WV_STOCK_AGREE - 1, 0));
	wv_stock_plan(0);
	assert_int_equal(fill(0), 0);
}

static void test_as_many_as_asked_for(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_shape *shape;
	struct wv_spare spare;

	(void)state;
	assert_true(make(&key, 0, 5, 0));
	wv_stock_plan(0);
	assert_int_equal(fill(0), 5);
	assert_true(make(&key, 0, 1000, 1));
	wv_stock_plan(1);
	assert_int_equal(fill(1), WV_STOCK_SPARES - 5);
	shape = wv_stock_ask(&key, 2);
	assert_false(wv_stock_is_low(shape));
	for (unsigned int i = 0; i < WV_STOCK_SPARES / 2; i++)
		assert_true(wv_stock_take(shape, &spare));
	assert_true(wv_stock_is_low(shape));
}

static void test_moved_in_another_way(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_spare spare;
	unsigned int surplus = 0;

	(void)state;
	assert_true(make(&key, 0, WV_STOCK_AGREE, 0));
	wv_stock_plan(0);
	assert_int_equal(fill(0), WV_STOCK_AGREE);
	assert_false(make(&key, IBV_ACCESS_REMOTE_READ, 1, 0));
	wv_stock_plan(0);
	while (wv_stock_surplus(&spare))
		surplus++;
	assert_int_equal(surplus, WV_STOCK_AGREE);
	assert_true(make(&key, IBV_ACCESS_REMOTE_READ, WV_STOCK_AGREE, 0));
}

static void test_put_back(void **state)
{
	struct wv_qp_key key = key_of(1);

	(void)state;
	make(&key, 0, WV_STOCK_AGREE, 0);
	wv_stock_differ(&key);
	wv_stock_plan(0);
	assert_int_equal(fill(0), 0);
}

static void test_idle(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_spare spare;
	unsigned int surplus = 0;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	fill(0);
	wv_stock_plan(WV_STOCK_IDLE_MS - 1);
	assert_false(wv_stock_surplus(&spare));
	wv_stock_plan(WV_STOCK_IDLE_MS);
	while (wv_stock_surplus(&spare))
		surplus++;
	assert_int_equal(surplus, 5);
}

static void test_refused_by_the_device(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_order order;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	assert_true(wv_stock_lacking(&order, 0));
	wv_stock_fail(&order, 0);
	assert_false(wv_stock_lacking(&order, WV_STOCK_PAUSE_MS - 1));
	assert_true(wv_stock_lacking(&order, WV_STOCK_PAUSE_MS));
}

/* Not for longer each time: the device has refused nothing. */
static void test_put_off(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_order order;
	uint64_t now_ms = 0;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	for (unsigned int i = 0; i < 10; i++, now_ms += WV_STOCK_SOON_MS) {
		assert_true(wv_stock_lacking(&order, now_ms));
		wv_stock_put_off(&order, now_ms);
		assert_false(wv_stock_lacking(&order, now_ms + WV_STOCK_SOON_MS - 1));
	}
}

/* A peer would ask for spares in vain, and then wait for longer and longer. */
static void test_no_peer_hears_of_it_before_there_are_spares(void **state)
{
	struct wv_qp_key key = key_of(1);
	const struct wv_connection connection = {.by_request = 0};

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	for (unsigned int i = 0; i < WV_STOCK_AGREE; i++)
		assert_int_equal(wv_stock_connected(&key, &connection), 0);
	fill(0);
	assert_int_not_equal(wv_stock_connected(&key, &connection), 0);
}

/* What is made meanwhile is for a shape that is gone. */
static void test_withdrawn(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_order order;
	struct wv_spare spare = {.qp = qps};
	unsigned int n = 0;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	fill(0);
	make(&key, 0, 10, 0);
	wv_stock_plan(0);
	assert_true(wv_stock_lacking(&order, 0));
	assert_false(wv_stock_withdraw(&order, &spare));
	while (wv_stock_withdraw(&cq, &spare))
		n++;
	assert_int_equal(n, 5);
	assert_false(wv_stock_add(&order, &spare));
}

static void test_more_shapes_than_room(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3 * WV_STOCK_SHAPES; i++) {
		struct wv_qp_key key = key_of(i);

		assert_non_null(wv_stock_ask(&key, i));
	}
}

/* A queue pair that is never moved makes room; a spare that the program has does not. */
static void test_young(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		wv_young_add(&(struct wv_young_qp){.qp = &qps[i]});
	assert_non_null(wv_young_find(&qps[63]));
	wv_young_forget();
	for (unsigned int i = 0; wv_young_has_room(); i++)
		wv_young_add(&(struct wv_young_qp){.qp = &qps[i], .is_spare = true});
	wv_young_add(&(struct wv_young_qp){.qp = &qps[63]});
	assert_null(wv_young_find(&qps[63]));
	wv_young_remove(wv_young_find(&qps[0]));
	assert_null(wv_young_find(&qps[0]));
	assert_true(wv_young_has_room());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_no_pattern, begin),
	    cmocka_unit_test_setup(test_as_many_as_asked_for, begin),
	    cmocka_unit_test_setup(test_moved_in_another_way, begin),
	    cmocka_unit_test_setup(test_put_back, begin),
	    cmocka_unit_test_setup(test_idle, begin),
	    cmocka_unit_test_setup(test_refused_by_the_device, begin),
	    cmocka_unit_test_setup(test_put_off, begin),
	    cmocka_unit_test_setup(test_no_peer_hears_of_it_before_there_are_spares, begin),
	    cmocka_unit_test_setup(test_withdrawn, begin),
	    cmocka_unit_test_setup(test_more_shapes_than_room, begin),
	    cmocka_unit_test_setup(test_young, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
