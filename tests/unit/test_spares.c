/* SPDX-License-Identifier: BSD-2-Clause */
/* How many spares there should be, and which queue pairs are young: without any verb. */
#include "preload/stock/stock.h"
#include "preload/stock/young.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ibv_context context;
static struct ibv_pd pd = {.context = &context};
static struct ibv_cq cq;
static struct ibv_qp qps[64];
static struct wv_tickets *tickets;
static unsigned int patience;

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

/*
 * The program makes @n queue pairs of this key, each moved so. Returns whether the last one showed
 * the pattern.
 */
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
	struct wv_young_qp spare;
	unsigned int n = 0;

	while (wv_stock_lacking(&spare, now_ms)) {
		assert_true(wv_ticket_begin(tickets, &spare.key, &spare.ticket));
		wv_ticket_made(&spare.ticket, n);
		spare.cap.max_send_wr = 1;
		spare.qp = &qps[n++];
		assert_true(wv_stock_add(&spare));
	}
	return n;
}

static void forget_all(void)
{
	struct wv_young_qp *y;

	while ((y = wv_young_in(~0u, NULL)))
		wv_young_enter(y, WV_YOUNG_NONE);
}

static int begin(void **state)
{
	(void)state;
	wv_stock_withdraw(NULL);
	forget_all();
	wv_tickets_free(tickets);
	tickets = wv_tickets_new();
	patience = WV_TICKET_PATIENCE_MS;
	return tickets ? 0 : -1;
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
		assert_non_null(wv_stock_take(shape, WV_YOUNG_AHEAD));
	assert_true(wv_stock_is_low(shape));
}

static void test_moved_in_another_way(void **state)
{
	struct wv_qp_key key = key_of(1);
	unsigned int surplus = 0;

	(void)state;
	assert_true(make(&key, 0, WV_STOCK_AGREE, 0));
	wv_stock_plan(0);
	assert_int_equal(fill(0), WV_STOCK_AGREE);
	assert_false(make(&key, IBV_ACCESS_REMOTE_READ, 1, 0));
	wv_stock_plan(0);
	while (wv_stock_surplus())
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

/* A forked child has destroyed what the spares used, and them. */
static void test_destroyed_by_a_child(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_ticket childs[WV_STOCK_AGREE];
	struct wv_young_qp *first;
	struct wv_shape *shape;
	unsigned int n = 0;

	(void)state;
	make(&key, 0, WV_STOCK_AGREE, 0);
	wv_stock_plan(0);
	assert_int_equal(fill(0), WV_STOCK_AGREE);
	shape = wv_stock_ask(&key, 0);
	wv_each_young (y)
		childs[n++] = y->ticket;
	assert_true(wv_ticket_redeem(&childs[0]));
	first = wv_stock_take(shape, WV_YOUNG_AHEAD);
	assert_non_null(first);
	assert_ptr_not_equal(first->qp, &qps[0]);
	assert_false(wv_ticket_redeem(&childs[1]));
	assert_true(wv_ticket_redeem(&childs[2]));
	assert_null(wv_stock_take(shape, WV_YOUNG_AHEAD));
	assert_int_equal(shape->n, 0);
}

static void in_a_child(void (*act)(struct wv_ticket *ticket), struct wv_ticket *ticket)
{
	pid_t child = fork();

	if (child)
		return;
	act(ticket);
	_exit(0);
}

static void make_slowly(struct wv_ticket *ticket)
{
	struct wv_qp_key key = key_of(1);

	if (!wv_ticket_begin(tickets, &key, ticket))
		return;
	kill(getppid(), SIGUSR1);
	usleep(50000);
	wv_ticket_made(ticket, 7);
}

static void destroy_slowly(struct wv_ticket *ticket)
{
	wv_ticket_begin_end(ticket, &patience);
	kill(getppid(), SIGUSR1);
	usleep(50000);
	wv_ticket_end(ticket);
}

static void await_signal(void)
{
	sigset_t one;
	int number;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	assert_int_equal(sigwait(&one, &number), 0);
}

/* A process finds what another makes after the fork, and waits until it can be destroyed. */
static void test_made_by_a_child(void **state)
{
	struct ibv_cq other;
	struct wv_ticket ticket;
	uint32_t handle;

	(void)state;
	in_a_child(make_slowly, &ticket);
	await_signal();
	assert_false(wv_ticket_begin_end_of(tickets, &other, &patience, &ticket, &handle));
	assert_true(wv_ticket_begin_end_of(tickets, &cq, &patience, &ticket, &handle));
	assert_int_equal(handle, 7);
	wv_ticket_end(&ticket);
	assert_false(wv_ticket_begin_end_of(tickets, &cq, &patience, &ticket, &handle));
	wait(NULL);
}

/* What a spare uses cannot be destroyed before the child has destroyed the spare. */
static void test_destroyed_by_a_child_at_this_moment(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_ticket ticket, found;
	uint32_t handle;

	(void)state;
	assert_true(wv_ticket_begin(tickets, &key, &ticket));
	wv_ticket_made(&ticket, 0);
	in_a_child(destroy_slowly, &ticket);
	await_signal();
	assert_false(wv_ticket_redeem(&ticket));
	assert_false(wv_ticket_begin_end_of(tickets, &pd, &patience, &found, &handle));
	assert_false(wv_ticket_begin_end(&ticket, &patience));
	assert_true(wv_ticket_begin(tickets, &key, &found));
	assert_ptr_equal(found.place, ticket.place);
	wait(NULL);
}

/*
 * Another process makes room by what is nobody's, but not by the end of a pair: its number means
 * something.
 */
static void test_room_by_another(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_ticket kept, old, free, found;
	uint32_t handle;

	(void)state;
	assert_true(wv_ticket_begin(tickets, &key, &kept));
	wv_ticket_made(&kept, 1);
	old = kept;
	assert_true(wv_ticket_keep(&kept));
	assert_false(wv_ticket_redeem(&old));
	assert_true(wv_ticket_is_good(&kept));
	assert_true(wv_ticket_begin(tickets, &key, &free));
	wv_ticket_made(&free, 2);
	assert_true(wv_ticket_begin_end_of(tickets, NULL, &patience, &found, &handle));
	assert_int_equal(handle, 2);
	wv_ticket_end(&found);
	assert_false(wv_ticket_begin_end_of(tickets, NULL, &patience, &found, &handle));
	assert_true(wv_ticket_begin_end_of(tickets, &cq, &patience, &found, &handle));
	assert_int_equal(handle, 1);
	wv_ticket_end(&found);
	assert_true(wv_ticket_begin(tickets, &key, &free));
	wv_ticket_made(&free, 3);
	assert_true(wv_ticket_begin_end_of(tickets, NULL, &patience, &found, &handle));
	wv_ticket_end(&found);
	assert_false(wv_ticket_keep(&free));
}

/* A process that was killed, or means harm, keeps nobody waiting for long. */
static void test_patience_ends(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_ticket ticket, found;
	uint32_t handle;

	(void)state;
	patience = 20;
	for (unsigned int i = 0; i < 3; i++)
		assert_true(wv_ticket_begin(tickets, &key, &ticket));
	assert_false(wv_ticket_begin_end_of(tickets, &cq, &patience, &found, &handle));
	assert_int_equal(patience, 0);
}

static void test_no_ticket_is_left(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_ticket ticket, last = {NULL, 0};

	(void)state;
	while (wv_ticket_begin(tickets, &key, &ticket))
		last = ticket;
	wv_ticket_end(&last);
	assert_true(wv_ticket_begin(tickets, &key, &ticket));
	assert_false(wv_ticket_is_good(&ticket));
	assert_false(wv_ticket_begin(tickets, &key, &ticket));
}

static void test_idle(void **state)
{
	struct wv_qp_key key = key_of(1);
	unsigned int surplus = 0;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	fill(0);
	wv_stock_plan(WV_STOCK_IDLE_MS - 1);
	assert_null(wv_stock_surplus());
	wv_stock_plan(WV_STOCK_IDLE_MS);
	while (wv_stock_surplus())
		surplus++;
	assert_int_equal(surplus, 5);
}

static void test_refused_by_the_device(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_young_qp spare;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	assert_true(wv_stock_lacking(&spare, 0));
	wv_stock_put_off(&spare.key, true, 0);
	assert_false(wv_stock_lacking(&spare, WV_STOCK_PAUSE_MS - 1));
	assert_true(wv_stock_lacking(&spare, WV_STOCK_PAUSE_MS));
}

/* Not for longer each time: the device has refused nothing. */
static void test_put_off(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_young_qp spare;
	uint64_t now_ms = 0;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	for (unsigned int i = 0; i < 10; i++, now_ms += WV_STOCK_SOON_MS) {
		assert_true(wv_stock_lacking(&spare, now_ms));
		wv_stock_put_off(&spare.key, false, now_ms);
		assert_false(wv_stock_lacking(&spare, now_ms + WV_STOCK_SOON_MS - 1));
	}
}

/* What is made meanwhile is for a shape that is gone. */
static void test_withdrawn(void **state)
{
	struct wv_qp_key key = key_of(1);
	struct wv_young_qp spare;
	unsigned int n = 0;

	(void)state;
	make(&key, 0, 5, 0);
	wv_stock_plan(0);
	fill(0);
	make(&key, 0, 10, 0);
	wv_stock_plan(0);
	assert_true(wv_stock_lacking(&spare, 0));
	wv_stock_withdraw(&spare);
	assert_null(wv_young_in(WV_YOUNG_BIT(WV_YOUNG_OVER), NULL));
	wv_stock_withdraw(&cq);
	for (struct wv_young_qp *y; (y = wv_young_in(WV_YOUNG_BIT(WV_YOUNG_OVER), &cq)); n++)
		wv_young_enter(y, WV_YOUNG_NONE);
	assert_int_equal(n, 5);
	spare.qp = qps;
	assert_false(wv_stock_add(&spare));
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
		wv_young_add(&(struct wv_young_qp){.state = WV_YOUNG_LEARNED, .qp = &qps[i]});
	assert_non_null(wv_young_find(&qps[63]));
	assert_null(wv_young_find(&qps[0]));
	forget_all();
	for (unsigned int i = 0; wv_young_has_room(); i++)
		wv_young_add(&(struct wv_young_qp){.state = WV_YOUNG_AHEAD, .qp = &qps[i]});
	assert_null(wv_young_add(&(struct wv_young_qp){.state = WV_YOUNG_LEARNED, .qp = &qps[63]}));
	assert_null(wv_young_find(&qps[63]));
	wv_young_enter(wv_young_find(&qps[0]), WV_YOUNG_NONE);
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
	    cmocka_unit_test_setup(test_destroyed_by_a_child, begin),
	    cmocka_unit_test_setup(test_destroyed_by_a_child_at_this_moment, begin),
	    cmocka_unit_test_setup(test_room_by_another, begin),
	    cmocka_unit_test_setup(test_made_by_a_child, begin),
	    cmocka_unit_test_setup(test_patience_ends, begin),
	    cmocka_unit_test_setup(test_no_ticket_is_left, begin),
	    cmocka_unit_test_setup(test_idle, begin),
	    cmocka_unit_test_setup(test_refused_by_the_device, begin),
	    cmocka_unit_test_setup(test_put_off, begin),
	    cmocka_unit_test_setup(test_withdrawn, begin),
	    cmocka_unit_test_setup(test_more_shapes_than_room, begin),
	    cmocka_unit_test_setup(test_young, begin),
	};

	sigset_t one;

	/* Children say by it how far they are. */
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
