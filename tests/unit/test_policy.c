/* SPDX-License-Identifier: BSD-2-Clause */
/* How many leases wait, with a clock of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/pool/policy.h"

#include <string.h>

#define IDLE   INT64_C(600000000)
#define SECOND INT64_C(1000000)
#define START  (1000 * SECOND)

/* Of programs that asked at @asked and were recorded until @now. */
static void claim_late(struct wv_demand *d, unsigned int n, int64_t asked, int64_t now)
{
	const struct wv_claim claim = {now, asked, 1};

	while (n--)
		wv_demand_claim(d, &claim, IDLE);
}

static void claim(struct wv_demand *d, unsigned int n, int64_t now)
{
	claim_late(d, n, now, now);
}

static uint32_t target(const struct wv_demand *d, int64_t now)
{
	return wv_demand_target(d, now, IDLE);
}

static struct wv_demand demand_of(unsigned int n)
{
	struct wv_demand d;

	wv_demand_init(&d, START);
	claim(&d, n, START);
	return d;
}

static void test_a_new_recipe_has_one(void **state)
{
	struct wv_demand d = demand_of(0);

	(void)state;
	assert_int_equal(target(&d, START), 1);
	assert_int_equal(target(&d, START + IDLE), 1);
}

static void test_a_burst_is_remembered(void **state)
{
	struct wv_demand d = demand_of(50);

	(void)state;
	assert_int_equal(target(&d, START), 50);
	wv_demand_full(&d, START);
	assert_int_equal(target(&d, START + SECOND), 50);
}

static void test_a_full_pool_ends_the_burst(void **state)
{
	struct wv_demand d = demand_of(3);

	(void)state;
	wv_demand_full(&d, START);
	claim(&d, 3, START + 10);
	assert_int_equal(target(&d, START + 10), 3);
	claim(&d, 1, START + 20); /* three more were ready, and a fourth was asked for */
	assert_int_equal(target(&d, START + 20), 4);
}

static void test_programs_recorded_together_are_a_burst(void **state)
{
	struct wv_demand d = demand_of(0);

	(void)state;
	claim_late(&d, 1, START, START + 3 * SECOND);
	wv_demand_full(&d, START + 4 * SECOND);
	claim_late(&d, 3, START + SECOND / 2, START + 5 * SECOND);
	assert_int_equal(target(&d, START + 5 * SECOND), 4);
}

static void test_programs_recorded_one_by_one_are_none(void **state)
{
	struct wv_demand d = demand_of(0);

	(void)state;
	claim_late(&d, 1, START, START + SECOND / 4);
	wv_demand_full(&d, START + SECOND / 3);
	claim_late(&d, 1, START + SECOND / 2, START + SECOND);
	assert_int_equal(target(&d, START + SECOND), 1);
}

static void test_a_steady_stream_is_no_burst(void **state)
{
	struct wv_demand d = demand_of(1);

	(void)state;
	/* One every 100 ms, and the pool never gets full. */
	for (int i = 1; i < 1000; i++)
		claim(&d, 1, START + i * SECOND / 10);
	assert_uint_in_range(target(&d, START + 100 * SECOND), 10, 12);
}

static void test_halved_when_idle(void **state)
{
	struct wv_demand d = demand_of(64);

	(void)state;
	assert_int_equal(target(&d, START + IDLE - 1), 64);
	assert_int_equal(target(&d, START + IDLE), 32);
	assert_int_equal(target(&d, START + 2 * IDLE), 16);
	assert_int_equal(target(&d, START + 5 * IDLE), 2);
}

static void test_keeps_one_for_a_while_then_none(void **state)
{
	struct wv_demand d = demand_of(2);

	(void)state;
	assert_int_equal(target(&d, START + 2 * IDLE), 1);
	assert_int_equal(target(&d, START + WV_IDLE_PERIODS * IDLE - 1), 1);
	assert_int_equal(target(&d, START + WV_IDLE_PERIODS * IDLE), 0);
	assert_int_equal(target(&d, START + 1000 * IDLE), 0);
}

static void test_less_demand_decays_though_in_use(void **state)
{
	struct wv_demand d = demand_of(64);
	int64_t now = START;

	(void)state;
	for (int i = 0; i < 70; i++) { /* one at a time, ten in an idle time */
		wv_demand_full(&d, now);
		now += IDLE / 10;
		claim(&d, 1, now);
	}
	assert_int_equal(target(&d, now), 1);
}

static void test_demand_comes_back_at_once(void **state)
{
	struct wv_demand d = demand_of(8);
	int64_t later = START + 100 * IDLE;

	(void)state;
	assert_int_equal(target(&d, later), 0);
	claim(&d, 1, later);
	assert_int_equal(target(&d, later), 1);
	claim(&d, 4, later + 1);
	assert_int_equal(target(&d, later + 1), 5);
}

static void test_a_time_before_the_clock_began(void **state)
{
	struct wv_demand d;

	(void)state;
	wv_demand_init(&d, START - 2000 * SECOND); /* used before the machine was started */
	assert_int_equal(target(&d, START), 1);
	wv_demand_init(&d, START - 100 * IDLE);
	assert_int_equal(target(&d, START), 0);
}

static void test_a_clock_that_stands_still(void **state)
{
	struct wv_demand d = demand_of(4);

	(void)state;
	assert_int_equal(target(&d, START - SECOND), 4);
}

/* Plans. */

#define MIB (UINT64_C(1) << 20)

static const struct wv_cost small = {.fds = 2, .bytes = MIB};
static const struct wv_cost large = {.fds = 2, .bytes = 100 * MIB};

static const struct wv_limits wide = {
    .leases_per_recipe = 64,
    .user = {.leases = 256, .fds = 10000, .bytes = 256 * MIB},
    .total = {.leases = 1024, .fds = 10000, .bytes = 1024 * MIB},
};

static struct wv_use planned[8];

static struct wv_want want(uint32_t tenant, uint32_t n, const struct wv_cost *cost)
{
	return (struct wv_want){.planned = &planned[tenant], .target = n, .cost = cost};
}

static void plan(struct wv_want *wants, unsigned int n, const struct wv_limits *limits)
{
	memset(planned, 0, sizeof(planned));
	wv_plan(wants, n, limits);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(planned); i++) {
		assert_true(planned[i].leases <= limits->user.leases);
		assert_true(planned[i].bytes <= limits->user.bytes);
	}
}

static void test_all_is_granted_where_there_is_room(void **state)
{
	struct wv_want wants[] = {want(0, 3, &small), want(0, 0, &small), want(1, 7, &small)};

	(void)state;
	plan(wants, 3, &wide);
	assert_int_equal(wants[0].granted, 3);
	assert_int_equal(wants[1].granted, 0);
	assert_int_equal(wants[2].granted, 7);
}

static void test_nothing_to_plan(void **state)
{
	(void)state;
	wv_plan(NULL, 0, &wide);
}

static void test_limit_of_a_recipe(void **state)
{
	struct wv_want wants[] = {want(0, 100, &small)};

	(void)state;
	plan(wants, 1, &wide);
	assert_int_equal(wants[0].granted, 64);
}

static void test_limit_of_a_user_is_shared_by_turns(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 60, &small), want(0, 2, &small), want(0, 60, &small)};

	(void)state;
	limits.user.leases = 20;
	plan(wants, 3, &limits);
	assert_int_equal(wants[0].granted, 9);
	assert_int_equal(wants[1].granted, 2);
	assert_int_equal(wants[2].granted, 9);
}

static void test_memory_counts_what_a_lease_costs(void **state)
{
	struct wv_want wants[] = {want(0, 10, &large), want(0, 10, &small)};

	(void)state;
	plan(wants, 2, &wide);
	assert_int_equal(wants[0].granted, 2); /* of 256 MiB */
	assert_int_equal(wants[1].granted, 10);
}

static void test_no_user_takes_it_all(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 64, &small), want(0, 64, &small), want(1, 5, &small)};

	(void)state;
	limits.total.leases = 20;
	plan(wants, 3, &limits);
	assert_int_equal(wants[0].granted + wants[1].granted, 10);
	assert_int_equal(wants[2].granted, 5);
}

static void test_idle_users_have_no_share(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 64, &small), want(1, 0, &small), want(2, 0, &small)};

	(void)state;
	limits.total.leases = 20;
	plan(wants, 3, &limits);
	assert_int_equal(wants[0].granted, 20);
}

static void test_more_users_than_leases(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 4, &small), want(1, 4, &small), want(2, 4, &small),
				  want(3, 4, &small)};

	(void)state;
	limits.total.leases = 2;
	plan(wants, 4, &limits);
	assert_int_equal(wants[0].granted, 1);
	assert_int_equal(wants[1].granted, 1);
	assert_int_equal(wants[2].granted + wants[3].granted, 0);
}

static void test_descriptors_are_limited(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 64, &small), want(1, 64, &small)};

	(void)state;
	limits.total.fds = 9;
	plan(wants, 2, &limits);
	assert_int_equal(wants[0].granted, 2);
	assert_int_equal(wants[1].granted, 2);
}

static void test_what_never_fits_is_not_granted(void **state)
{
	static const struct wv_cost huge = {.fds = 2, .bytes = UINT64_MAX};
	struct wv_want wants[] = {want(0, 1, &huge), want(0, 1, &small)};

	(void)state;
	plan(wants, 2, &wide);
	assert_int_equal(wants[0].granted, 0);
	assert_int_equal(wants[1].granted, 1);
}

/* Closes or makes leases until all are as planned. How many were made. */
static unsigned int carry_out(struct wv_want *wants, unsigned int n, const struct wv_limits *limits)
{
	unsigned int made = 0;

	plan(wants, n, limits);
	for (unsigned int i = 0; i < n; i++) {
		made += wants[i].granted > wants[i].held ? wants[i].granted - wants[i].held : 0;
		wants[i].held = wants[i].granted;
	}
	return made;
}

/* The order of recipes changes with each request. */
static void test_what_exists_stays_in_any_order(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 3, &small), want(0, 3, &small), want(0, 3, &small),
				  want(0, 3, &small), want(0, 3, &small)};

	(void)state;
	limits.user.leases = 7;
	assert_int_equal(carry_out(wants, 5, &limits), 7);
	for (int i = 0; i < 5; i++) {
		struct wv_want last = wants[4];

		memmove(&wants[1], &wants[0], 4 * sizeof(last));
		wants[0] = last;
		assert_int_equal(carry_out(wants, 5, &limits), 0);
	}
	wants[3].held--; /* one is handed out */
	assert_int_equal(carry_out(wants, 5, &limits), 1);
}

static void test_who_has_none_comes_before_who_has_many(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 10, &small), want(0, 1, &small)};

	(void)state;
	limits.user.leases = 10;
	wants[0].held = 10;
	assert_int_equal(carry_out(wants, 2, &limits), 1);
	assert_int_equal(wants[0].held, 9);
	assert_int_equal(carry_out(wants, 2, &limits), 0);
}

static void test_users_of_one_tenant_have_one_share(void **state)
{
	struct wv_limits limits = wide;
	struct wv_want wants[] = {want(0, 9, &small), want(0, 9, &small), want(0, 9, &small),
				  want(1, 9, &small)};

	(void)state;
	limits.total.leases = 12;
	plan(wants, 4, &limits);
	assert_int_equal(wants[3].granted, 6);
}

static void test_limits_of_zero(void **state)
{
	struct wv_limits none = {0};
	struct wv_want wants[] = {want(0, 1, &small)};

	(void)state;
	plan(wants, 1, &none);
	assert_int_equal(wants[0].granted, 0);
}

/* A user who starts one program after the other, every ten seconds, with room for some leases. */

#define RECIPES	 60
#define ROOM	 33
#define PERIOD	 (10 * SECOND)
#define RECENTLY (100 * SECOND)

struct user {
	struct wv_demand demands[RECIPES];
	uint32_t held[RECIPES];
	unsigned int n; /* recipes that there are by now */
	int64_t now;
	uint64_t claims;
	unsigned int made, closed;
};

static void plan_of_user(struct user *u)
{
	struct wv_limits limits = wide;
	struct wv_want wants[RECIPES];

	limits.user.leases = ROOM;
	for (unsigned int i = 0; i < u->n; i++) {
		wants[i] = want(0, target(&u->demands[i], u->now), &small);
		wants[i].pool = (void *)&u->held[i];
		wants[i].held = u->held[i];
		wants[i].due = wv_demand_due(&u->demands[i], u->claims);
		wants[i].unsure = (int64_t)(u->demands[i].period / 8);
	}
	wv_wants_sort(wants, u->n);
	plan(wants, u->n, &limits);
	for (unsigned int i = 0; i < u->n; i++) {
		u->made += wants[i].granted > wants[i].held;
		u->closed += wants[i].granted < wants[i].held;
		*(uint32_t *)(void *)wants[i].pool = wants[i].granted;
	}
}

/* Whether there was a lease for program @i, which the user starts now. */
static bool start(struct user *u, unsigned int i)
{
	bool hit = i < u->n && u->held[i];

	u->now += PERIOD;
	if (i >= u->n) /* recorded */
		wv_demand_init(&u->demands[u->n++], u->now);
	const struct wv_claim claim = {u->now, u->now, ++u->claims};

	wv_demand_claim(&u->demands[i], &claim, IDLE);
	if (hit)
		u->held[i]--;
	plan_of_user(u);
	return hit;
}

/* Starts all programs, so much time apart. */
static unsigned int start_all(struct user *u, int64_t apart)
{
	unsigned int hits = 0;

	u->made = u->closed = 0;
	for (unsigned int i = 0; i < RECIPES; i++) {
		u->now += apart - PERIOD;
		hits += start(u, i);
	}
	return hits;
}

/* A test suite that is run again and again. */
static void test_what_comes_round_waits(void **state)
{
	struct user u = {.now = START};

	(void)state;
	assert_int_equal(start_all(&u, PERIOD), 0);
	start_all(&u, PERIOD);		       /* now periods are known */
	for (unsigned int i = 0; i < 4; i++) { /* now faster, now slower */
		assert_int_equal(start_all(&u, (i % 2 ? 3 : 2) * PERIOD / 2), RECIPES);
		assert_int_equal(u.made, RECIPES); /* each once, and none in vain */
		assert_int_equal(u.closed, 0);
	}
}

static void test_a_new_program_is_not_kept_waiting(void **state)
{
	struct user u = {.now = START};

	(void)state;
	for (unsigned int i = 0; i < RECIPES - 1; i++)
		start(&u, i);
	u.now += RECENTLY;
	start(&u, RECIPES - 1);
	u.made = u.closed = 0;
	for (unsigned int i = 0; i < 10; i++)
		assert_true(start(&u, RECIPES - 1));
	assert_int_equal(u.made, 10);
	assert_int_equal(u.closed, 0);
}

/* Nobody knows what comes next: as many have leases as there is room for, and few are closed. */
static void test_no_order_is_no_harm(void **state)
{
	struct user u = {.now = START};
	unsigned int hits = 0, n = 40 * RECIPES;
	uint32_t random = 1;

	(void)state;
	start_all(&u, PERIOD);
	u.made = 0;
	for (unsigned int i = 0; i < n; i++) {
		random = random * 1664525 + 1013904223;
		hits += start(&u, (random >> 16) % RECIPES);
	}
	assert_true(hits * RECIPES > n * ROOM * 9 / 10);
	assert_true(u.closed * 4 < n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_new_recipe_has_one),
	    cmocka_unit_test(test_a_burst_is_remembered),
	    cmocka_unit_test(test_a_full_pool_ends_the_burst),
	    cmocka_unit_test(test_programs_recorded_together_are_a_burst),
	    cmocka_unit_test(test_programs_recorded_one_by_one_are_none),
	    cmocka_unit_test(test_a_steady_stream_is_no_burst),
	    cmocka_unit_test(test_halved_when_idle),
	    cmocka_unit_test(test_keeps_one_for_a_while_then_none),
	    cmocka_unit_test(test_less_demand_decays_though_in_use),
	    cmocka_unit_test(test_demand_comes_back_at_once),
	    cmocka_unit_test(test_a_time_before_the_clock_began),
	    cmocka_unit_test(test_a_clock_that_stands_still),
	    cmocka_unit_test(test_all_is_granted_where_there_is_room),
	    cmocka_unit_test(test_nothing_to_plan),
	    cmocka_unit_test(test_limit_of_a_recipe),
	    cmocka_unit_test(test_limit_of_a_user_is_shared_by_turns),
	    cmocka_unit_test(test_memory_counts_what_a_lease_costs),
	    cmocka_unit_test(test_no_user_takes_it_all),
	    cmocka_unit_test(test_idle_users_have_no_share),
	    cmocka_unit_test(test_more_users_than_leases),
	    cmocka_unit_test(test_descriptors_are_limited),
	    cmocka_unit_test(test_what_never_fits_is_not_granted),
	    cmocka_unit_test(test_what_exists_stays_in_any_order),
	    cmocka_unit_test(test_who_has_none_comes_before_who_has_many),
	    cmocka_unit_test(test_users_of_one_tenant_have_one_share),
	    cmocka_unit_test(test_limits_of_zero),
	    cmocka_unit_test(test_what_comes_round_waits),
	    cmocka_unit_test(test_a_new_program_is_not_kept_waiting),
	    cmocka_unit_test(test_no_order_is_no_harm),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
