/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of devices, and whose questions they answer. */
#include "fixture.h"

#include "daemon/devices/constants.h"

#define RDEV	5
#define ID	1 /* of the attributes of questions and answers */
#define ANSWER	2
#define LENGTHY 1024

static struct wv_all_constants all;
static const struct wv_tenant alice = {.uid = 1}, bob = {.uid = 2},
			      bob_in_a_container = {.uid = 2, .container = 7};

/* A lease with one question and its answer. */
struct asked {
	struct wv_cmdlog_writer w;
	_Alignas(8) uint8_t memory[8192];
};

static void put(struct asked *a, struct wv_attr *attr, enum wv_kind kind, uint16_t id,
		const void *data, size_t bytes)
{
	attr->id = id;
	attr->kind = kind;
	attr->len = (uint16_t)bytes;
	attr->payload = wv_cmdlog_payload(&a->w, data, bytes);
}

static struct wv_step *ask(struct asked *a, uint32_t question, size_t answer_bytes)
{
	const struct wv_command_row *row = wv_abi_find(
	    RDMA_DRIVER_RXE, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, WV_NO_WRITE_CMD);
	struct wv_step *step;

	wv_cmdlog_begin(&a->w, a->memory, sizeof(a->memory), WV_LEASE, RDMA_DRIVER_RXE);
	step = wv_cmdlog_step(&a->w, row, 2);
	assert_non_null(step);
	step->class_ = WV_CONSTANT;
	put(a, wv_step_attrs(step), WV_EQUAL, ID, &question, sizeof(question));
	put(a, wv_step_attrs(step) + 1, WV_OUT, ANSWER, NULL, answer_bytes);
	wv_cmdlog_commit(&a->w);
	return step;
}

static void learn(const struct wv_tenant *tenant, uint32_t question)
{
	struct asked a;

	ask(&a, question, 8);
	wv_constants_learn(&all, RDEV, tenant, a.w.cmdlog);
}

static unsigned int known_to(const struct wv_tenant *tenant)
{
	struct wv_cmdlog *answers = wv_constants_of(&all, RDEV, tenant);

	return answers ? answers->n_steps : 0;
}

static int forget_all(void **state)
{
	(void)state;
	wv_constants_drop_all(&all);
	return 0;
}

static void test_who_asked_gets_the_answer(void **state)
{
	(void)state;
	learn(&alice, 1);
	learn(&alice, 1);
	assert_int_equal(known_to(&alice), 1);
	assert_int_equal(known_to(&bob), 0);
}

static void test_two_who_ask_tell_everybody(void **state)
{
	const struct wv_tenant carol = {.uid = 3};

	(void)state;
	learn(&alice, 1);
	learn(&alice, 2);
	learn(&bob, 1);
	assert_int_equal(known_to(&alice), 2);
	assert_int_equal(known_to(&bob), 1);
	assert_int_equal(known_to(&carol), 1);
}

static void test_containers_are_told_apart(void **state)
{
	(void)state;
	learn(&bob, 1);
	assert_int_equal(known_to(&bob_in_a_container), 0);
	learn(&bob_in_a_container, 1);
	assert_int_equal(known_to(&alice), 1);
}

static void test_other_answers_are_other_constants(void **state)
{
	struct wv_step *step;
	struct asked a;

	(void)state;
	learn(&alice, 1);
	step = ask(&a, 1, 8);
	memset((uint8_t *)step + wv_step_attrs(step)[1].payload, 1, 8);
	wv_constants_learn(&all, RDEV, &bob, a.w.cmdlog);
	assert_int_equal(known_to(&alice), 1);
	assert_int_equal(known_to(&bob), 1);
	assert_int_equal(known_to(&bob_in_a_container), 0);
}

static void test_errors_are_not_learned(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, 1, 8)->error = ENOMEM;
	wv_constants_learn(&all, RDEV, &alice, a.w.cmdlog);
	assert_int_equal(known_to(&alice), 0);
}

static void test_long_questions_are_not_learned(void **state)
{
	struct asked a;
	struct wv_step *step = ask(&a, 1, 128);

	(void)state;
	wv_step_attrs(step)[1].kind = WV_EQUAL;
	wv_constants_learn(&all, RDEV, &alice, a.w.cmdlog);
	assert_int_equal(known_to(&alice), 0);
}

/* Asks so many different questions, with long answers. */
static void flood(const struct wv_tenant *tenant, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++) {
		struct asked a;

		ask(&a, i, LENGTHY);
		wv_constants_learn(&all, RDEV, tenant, a.w.cmdlog);
	}
}

static void test_a_tenant_has_a_quota(void **state)
{
	(void)state;
	flood(&alice, 0, 100);
	assert_uint_in_range(known_to(&alice), 18, 24);
	learn(&bob, 1000);
	assert_int_equal(known_to(&bob), 1);
	flood(&bob, 0, 100); /* two together have no more */
	assert_uint_in_range(known_to(&bob_in_a_container), 18, 24);
	flood(&bob, 200, 100);
	flood(&alice, 200, 100);
	assert_uint_in_range(known_to(&bob_in_a_container), 18, 24);
}

static void test_what_all_know_is_limited(void **state)
{
	(void)state;
	for (uid_t i = 0; i < 20; i++) {
		const struct wv_tenant one = {.uid = 100 + 2 * i}, other = {.uid = 101 + 2 * i};

		flood(&one, 100 * i, 20);
		flood(&other, 100 * i, 20);
	}
	assert_true(wv_constants_of(&all, RDEV, &alice)->bytes <=
		    WV_CONSTANTS_COMMON + sizeof(struct wv_cmdlog));
	flood(&alice, 9999, 1);
	flood(&bob, 9999, 1); /* no room for all, so each has it alone */
	assert_int_equal(known_to(&alice), known_to(&bob));
	assert_int_equal(known_to(&alice), known_to(&bob_in_a_container) + 1);
}

static void test_all_tenants_together_are_limited(void **state)
{
	(void)state;
	for (uid_t i = 0; i < 100; i++) {
		const struct wv_tenant one = {.uid = 100 + i};

		flood(&one, 100 * i, 20);
		assert_true(known_to(&one) > 0);
	}
	assert_true(SLIST_FIRST(&all)->bytes <= WV_CONSTANTS_ALL);
}

static void test_a_device_that_goes(void **state)
{
	(void)state;
	learn(&alice, 1);
	wv_constants_drop(&all, RDEV);
	assert_null(wv_constants_of(&all, RDEV, &alice));
}

#define TEST(name) cmocka_unit_test_teardown(name, forget_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_who_asked_gets_the_answer),
	    TEST(test_two_who_ask_tell_everybody),
	    TEST(test_containers_are_told_apart),
	    TEST(test_other_answers_are_other_constants),
	    TEST(test_errors_are_not_learned),
	    TEST(test_long_questions_are_not_learned),
	    TEST(test_a_tenant_has_a_quota),
	    TEST(test_what_all_know_is_limited),
	    TEST(test_all_tenants_together_are_limited),
	    TEST(test_a_device_that_goes),
	};

	return cmocka_run_group_tests_name("constants", tests, NULL, NULL);
}
