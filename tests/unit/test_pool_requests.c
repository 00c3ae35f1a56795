/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools of a size that programs ask for. */
#include "daemon_bench.h"

#include "daemon/ipc/pool_requests.h"
#include "daemon/loop/loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define REQUESTED 5

static struct bench_answer answer;

static struct wv_msg_pool a_request(uint64_t argv, uint32_t leases)
{
	return (struct wv_msg_pool){.program = bench_request(argv), .leases = leases};
}

static void send_request(int sock, struct wv_msg_pool request)
{
	bench_send(sock, WV_MSG_POOL, &request, sizeof(request), NULL, 0);
}

/* Sends @request; returns what the daemon answers. */
static struct wv_msg_pool_state put(struct daemon_bench *b, int sock, struct wv_msg_pool request)
{
	struct wv_msg_pool_state state;

	send_request(sock, request);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, sizeof(state));
	assert_int_equal(answer.n_fds, 0);
	memcpy(&state, answer.data, sizeof(state));
	assert_int_equal(state.msg.type, WV_MSG_POOL_STATE);
	return state;
}

static struct wv_msg_pool_state put_size(struct daemon_bench *b, int sock, uint32_t leases)
{
	return put(b, sock, a_request(1, leases));
}

static void expect_state(struct wv_msg_pool_state state, uint32_t granted, uint32_t ready)
{
	assert_int_equal(state.granted, granted);
	assert_int_equal(state.ready, ready);
}

/* How many leases wait once the daemon has come to rest. */
static uint32_t settled(struct daemon_bench *b)
{
	bench_settle(b);
	return bench_recipe(b)->pool->n_ready;
}

static void let_go(struct daemon_bench *b, int sock)
{
	close(sock);
	bench_run(b);
}

static void test_leases_are_kept_while_the_program_lives(void **state)
{
	struct daemon_bench *b = *state;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	assert_int_equal(settled(b), 1);
	sock = bench_connect(b);
	expect_state(put_size(b, sock, REQUESTED), REQUESTED, 1);
	assert_int_equal(settled(b), REQUESTED);
	expect_state(put_size(b, sock, REQUESTED), REQUESTED, REQUESTED);
	let_go(b, sock);
	assert_int_equal(settled(b), 1);
}

/* What is taken is made anew. */
static void test_the_pool_is_refilled(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	assert_int_equal(settled(b), REQUESTED);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	expect_state(put_size(b, sock, REQUESTED), REQUESTED, REQUESTED - 1);
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, sock);
}

/* A pool that nobody uses is emptied in time, but not one that is requested. */
static void test_a_requested_pool_does_not_decay(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);
	struct wv_demand *demand;

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	demand = &bench_recipe(b)->pool->demand;
	wv_demand_init(demand, wv_now(b->server->event) - 100 * wv_idle_us(&b->server->planner));
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, sock);
	assert_int_equal(settled(b), 0);
}

static void test_a_request_may_change(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	assert_int_equal(settled(b), REQUESTED);
	put_size(b, sock, 2);
	assert_int_equal(settled(b), 2);
	put_size(b, sock, 3);
	assert_int_equal(settled(b), 3);
	let_go(b, sock);
}

static void test_of_several_requests_the_largest_counts(void **state)
{
	struct daemon_bench *b = *state;
	int large = bench_connect(b), small = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	put_size(b, large, REQUESTED);
	put_size(b, small, 2);
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, large);
	assert_int_equal(settled(b), 2);
	large = bench_connect(b);
	put_size(b, large, REQUESTED);
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, small);
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, large);
}

/* A program may ask before anybody knows what it does. */
static void test_a_request_before_the_recipe(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	expect_state(put_size(b, sock, REQUESTED), 0, 0);
	bench_record(b, 1, "rc_pingpong");
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, sock);
}

static void expect_no_effect(struct daemon_bench *b, struct wv_msg_pool request)
{
	int sock = bench_connect(b);

	expect_state(put(b, sock, request), 0, 0);
	assert_int_equal(settled(b), 1);
	let_go(b, sock);
}

static void test_other_programs_are_not_meant(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_pool request;

	bench_record(b, 1, "rc_pingpong");
	request = a_request(1, REQUESTED);
	request.program.program.bytes[0]++;
	expect_no_effect(b, request);
	request = a_request(1, REQUESTED);
	request.program.verbs.bytes[0]++;
	expect_no_effect(b, request);
	request = a_request(1, REQUESTED);
	request.program.name[0] = 'x';
	expect_no_effect(b, request);
}

/* What is to start a program does not know its libibverbs. */
static void test_any_libibverbs(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_pool request = a_request(1, REQUESTED);
	int sock = bench_connect(b);

	memset(&request.program.verbs, 0, sizeof(request.program.verbs));
	expect_state(put(b, sock, request), 0, 0);
	bench_record(b, 1, "rc_pingpong");
	assert_int_equal(settled(b), REQUESTED);
	expect_state(put(b, sock, request), REQUESTED, REQUESTED);
	let_go(b, sock);
	assert_int_equal(settled(b), 1);
}

/* @recipe becomes one of an older libibverbs. */
static struct wv_recipe *outdate(struct daemon_bench *b, struct wv_recipe *recipe)
{
	struct wv_recipe *old = wv_recipe_copy(recipe);

	assert_non_null(old);
	old->key.verbs.bytes[0]++;
	old->id++;
	old->used--;
	wv_catalog_remove(&b->server->catalog, recipe);
	assert_ptr_equal(wv_catalog_add(&b->server->catalog, old), old);
	assert_int_equal(wv_scheduler_adopt(&b->server->scheduler, old), 0);
	return old;
}

static void test_of_any_libibverbs_the_one_used_last(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_pool request = a_request(1, REQUESTED);
	int sock = bench_connect(b);
	struct wv_recipe *old, *new;

	memset(&request.program.verbs, 0, sizeof(request.program.verbs));
	bench_record(b, 1, "rc_pingpong");
	old = outdate(b, bench_recipe(b));
	bench_record(b, 1, "rc_pingpong");
	new = TAILQ_FIRST(&wv_catalog_user(&b->server->catalog, getuid(), false)->recipes);
	assert_ptr_not_equal(new, old);
	put(b, sock, request);
	bench_settle(b);
	assert_int_equal(new->pool->n_ready, REQUESTED);
	assert_int_equal(old->pool->n_ready, 1);
	wv_catalog_touch(&b->server->catalog, old, old->used + 2);
	put(b, sock, request);
	bench_settle(b);
	assert_int_equal(old->pool->n_ready, REQUESTED);
	assert_int_equal(new->pool->n_ready, 1);
	let_go(b, sock);
}

static struct wv_recipe *variant_of(struct daemon_bench *b, uint64_t argv)
{
	struct wv_user *user = wv_catalog_user(&b->server->catalog, getuid(), false);
	struct wv_recipe *recipe;

	wv_each_recipe (user, recipe)
		if (wv_recipe_argv(recipe, argv))
			return recipe;
	fail();
	return NULL;
}

/*
 * Arguments that nobody knows yet are served by the variant that served last, and so is the pool
 * request.
 */
static void test_only_the_variant_of_these_arguments(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	bench_recipe(b)->unfit = true; /* so that other arguments record a variant of their own */
	bench_record(b, 2, "ud_pingpong");
	variant_of(b, 1)->unfit = false;
	put(b, sock, a_request(1, REQUESTED));
	bench_settle(b);
	assert_int_equal(variant_of(b, 1)->pool->n_ready, REQUESTED);
	assert_int_equal(variant_of(b, 2)->pool->n_ready, 1);
	put(b, sock, a_request(2, REQUESTED));
	bench_settle(b);
	assert_int_equal(variant_of(b, 1)->pool->n_ready, 1);
	assert_int_equal(variant_of(b, 2)->pool->n_ready, REQUESTED);
	put(b, sock, a_request(3, REQUESTED));
	bench_settle(b);
	assert_int_equal(variant_of(b, 1)->pool->n_ready, 1);
	assert_int_equal(variant_of(b, 2)->pool->n_ready, REQUESTED);
	let_go(b, sock);
}

/* @recipe becomes one of the program's second open. */
static struct wv_recipe *reopen(struct daemon_bench *b, struct wv_recipe *recipe)
{
	struct wv_recipe *second = wv_recipe_copy(recipe);

	assert_non_null(second);
	second->key.open_number = 1;
	second->id++;
	wv_catalog_remove(&b->server->catalog, recipe);
	assert_ptr_equal(wv_catalog_add(&b->server->catalog, second), second);
	assert_int_equal(wv_scheduler_adopt(&b->server->scheduler, second), 0);
	return second;
}

/* Each open has a recipe of its own; a program is warm only if there is a lease for all of them. */
static void test_programs_that_open_twice(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);
	struct wv_recipe *second;

	bench_record(b, 1, "rc_pingpong");
	second = reopen(b, bench_recipe(b));
	bench_record(b, 1, "ud_pingpong");
	put_size(b, sock, REQUESTED);
	bench_settle(b);
	assert_int_equal(second->pool->n_ready, REQUESTED);
	expect_state(put_size(b, sock, REQUESTED), REQUESTED, REQUESTED);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	assert_int_equal(second->pool->n_ready, REQUESTED);
	expect_state(put_size(b, sock, REQUESTED), REQUESTED, REQUESTED - 1);
	let_go(b, sock);
}

static void test_budgets_are_kept(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	b->server->planner.limits.user.leases = 3;
	b->server->planner.changed = true;
	expect_state(put_size(b, sock, UINT32_MAX), 3, 0);
	assert_int_equal(settled(b), 3);
	b->server->planner.limits.leases_per_recipe = 2;
	b->server->planner.changed = true;
	expect_state(put_size(b, sock, UINT32_MAX), 2, 3);
	assert_int_equal(settled(b), 2);
	let_go(b, sock);
}

static void test_a_device_that_is_gone(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	b->server->devices.n = 0;
	expect_state(put_size(b, sock, REQUESTED), 0, 0);
	b->server->devices.n = 1;
	wv_scheduler_retry(&b->server->scheduler);
	assert_int_equal(settled(b), REQUESTED);
	let_go(b, sock);
}

static void test_forgotten_recipes(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	assert_int_equal(settled(b), REQUESTED);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	expect_state(put_size(b, sock, REQUESTED), 0, 0);
	let_go(b, sock);
}

static void test_status_tells(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b), requested;
	json_t *json;

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(
	    json_unpack(json, "{s:[{s:{s:i}}]}", "recipes", "pool", "requested", &requested), 0);
	assert_int_equal(requested, REQUESTED);
	json_decref(json);
	let_go(b, sock);
	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(
	    json_unpack(json, "{s:[{s:{s:i}}]}", "recipes", "pool", "requested", &requested), 0);
	assert_int_equal(requested, 0);
	json_decref(json);
}

/* The kernel tells the daemon who connected, whoever it is later. */
static int connect_as_nobody(struct daemon_bench *b)
{
	int sock;

	if (getuid()) {
		print_message("only root can become another user\n");
		skip();
	}
	assert_int_equal(chmod(b->dir, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	sock = bench_connect(b);
	assert_int_equal(seteuid(0), 0);
	return sock;
}

static void test_another_user_s_request_has_no_effect(void **state)
{
	struct daemon_bench *b = *state;
	int sock = connect_as_nobody(b);

	bench_record(b, 1, "rc_pingpong");
	expect_state(put_size(b, sock, REQUESTED), 0, 0);
	assert_int_equal(b->server->service.n_clients, 1);
	assert_int_equal(settled(b), 1);
	let_go(b, sock);
}

/* Hostile ones. */

static void expect_closed(struct daemon_bench *b, int sock, uint64_t malformed, uint64_t over_limit)
{
	struct wv_tally before = b->server->service.tally;
	unsigned int n = b->server->service.n_clients;

	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	assert_int_equal(b->server->service.tally.malformed, before.malformed + malformed);
	assert_int_equal(b->server->service.tally.over_limit, before.over_limit + over_limit);
	assert_true(b->server->service.n_clients <= n);
	close(sock);
}

static void test_wrong_sizes(void **state)
{
	struct daemon_bench *b = *state;

	for (size_t bytes = sizeof(struct wv_msg); bytes < 2 * sizeof(struct wv_msg_pool);
	     bytes++) {
		char data[2 * sizeof(struct wv_msg_pool)] = {0};
		struct wv_msg_pool request = a_request(1, REQUESTED);
		int sock;

		if (bytes == sizeof(request))
			continue;
		memcpy(data, &request, sizeof(request));
		sock = bench_connect(b);
		bench_send(sock, WV_MSG_POOL, data, bytes, NULL, 0);
		expect_closed(b, sock, 1, 0);
	}
	assert_true(LIST_EMPTY(&b->server->service.pool_requests));
}

static void test_no_leases_and_descriptors(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_pool request = a_request(1, REQUESTED);
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int sock = bench_connect(b);

	send_request(sock, a_request(1, 0));
	expect_closed(b, sock, 1, 0);
	sock = bench_connect(b);
	bench_send(sock, WV_MSG_POOL, &request, sizeof(request), &node, 1);
	expect_closed(b, sock, 1, 0);
	assert_true(LIST_EMPTY(&b->server->service.pool_requests));
}

/* After which the pool request does not stand any more. */
static void test_out_of_turn(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {0};
	struct wv_msg_pool_state nonsense = {0};
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	expect_closed(b, sock, 1, 0);
	sock = bench_connect(b);
	bench_send(sock, WV_MSG_POOL_STATE, &nonsense, sizeof(nonsense), NULL, 0);
	expect_closed(b, sock, 1, 0);
	assert_int_equal(settled(b), 1);
	sock = bench_ask(b, 1, &answer);
	bench_close_fds(&answer);
	send_request(sock, a_request(1, REQUESTED));
	expect_closed(b, sock, 1, 0);
	assert_true(LIST_EMPTY(&b->server->service.pool_requests));
}

static void test_texts_without_end(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_pool request = a_request(1, REQUESTED);
	int sock = bench_connect(b);

	memset(request.program.name, 0xff, sizeof(request.program.name));
	memset(request.program.comm, 0x01, sizeof(request.program.comm));
	expect_state(put(b, sock, request), 0, 0);
	let_go(b, sock);
}

static void test_too_many_requests(void **state)
{
	struct daemon_bench *b = *state;
	int socks[WV_MAX_POOL_REQUESTS_PER_TENANT], more;

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
		socks[i] = bench_connect(b);
		put_size(b, socks[i], 1);
	}
	more = bench_connect(b);
	send_request(more, a_request(1, 1));
	expect_closed(b, more, 0, 1);
	put_size(b, socks[0], 2); /* one that stands may change */
	let_go(b, socks[0]);
	socks[0] = bench_connect(b);
	put_size(b, socks[0], 1);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++)
		let_go(b, socks[i]);
	assert_int_equal(b->server->service.n_clients, 0);
}

/* It does not read: nothing may pile up, nor the others wait. */
static void test_a_flood_of_requests(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_pool request = a_request(1, 1);
	int sock = bench_connect(b);

	wv_msg_init(&request.program.msg, WV_MSG_POOL, sizeof(request));
	bench_record(b, 1, "rc_pingpong");
	for (unsigned int i = 0; i < 3000; i++) {
		request.leases = 1 + i % 7;
		if (wv_send(sock, &request, sizeof(request), NULL, 0, NULL, 0) == -EPIPE)
			break;
		bench_run(b);
	}
	assert_true(LIST_EMPTY(&b->server->service.pool_requests));
	close(sock);
	bench_run(b);
	assert_int_equal(settled(b), 1);
}

static void test_the_daemon_ends_first(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_connect(b);

	bench_record(b, 1, "rc_pingpong");
	put_size(b, sock, REQUESTED);
	assert_int_equal(settled(b), REQUESTED);
	bench_stop(b);
	close(sock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_leases_are_kept_while_the_program_lives),
	    TEST(test_the_pool_is_refilled),
	    TEST(test_a_requested_pool_does_not_decay),
	    TEST(test_a_request_may_change),
	    TEST(test_of_several_requests_the_largest_counts),
	    TEST(test_a_request_before_the_recipe),
	    TEST(test_other_programs_are_not_meant),
	    TEST(test_any_libibverbs),
	    TEST(test_of_any_libibverbs_the_one_used_last),
	    TEST(test_only_the_variant_of_these_arguments),
	    TEST(test_programs_that_open_twice),
	    TEST(test_budgets_are_kept),
	    TEST(test_a_device_that_is_gone),
	    TEST(test_forgotten_recipes),
	    TEST(test_status_tells),
	    TEST(test_another_user_s_request_has_no_effect),
	    TEST(test_wrong_sizes),
	    TEST(test_no_leases_and_descriptors),
	    TEST(test_out_of_turn),
	    TEST(test_texts_without_end),
	    TEST(test_too_many_requests),
	    TEST(test_a_flood_of_requests),
	    TEST(test_the_daemon_ends_first),
	};

	return cmocka_run_group_tests_name("pool_requests", tests, NULL, NULL);
}
