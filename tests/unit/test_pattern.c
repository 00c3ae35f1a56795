/* SPDX-License-Identifier: BSD-2-Clause */
/* What providers write into queues, as series; and what programs that nobody trusts say of it. */
#include "cmdlog/pattern.h"

#include "fixture.h"

/* Eight-byte aligned, zeroed, exactly @bytes; the caller frees it. */
static uint8_t *queue(size_t bytes)
{
	uint8_t *memory = calloc(1, bytes);

	assert_non_null(memory);
	return memory;
}

/* Reads @memory and writes what was read into zeroed memory, which must be the same; how many. */
static int read_and_write(const uint8_t *memory, size_t bytes)
{
	struct wv_series series[WV_MAX_SERIES];
	wv_auto_free uint8_t *again = queue(bytes);
	int n = wv_pattern_read(memory, bytes, series);

	if (n < 0)
		return n;
	assert_true(wv_pattern_check(series, (size_t)n, bytes));
	wv_pattern_write(again, series, (size_t)n);
	assert_memory_equal(again, memory, bytes);
	return n;
}

static void test_nothing(void **state)
{
	wv_auto_free uint8_t *memory = queue(4096);

	(void)state;
	assert_int_equal(read_and_write(memory, 4096), 0);
	assert_int_equal(read_and_write(memory, 0), 0);
}

/* One byte in the last place of each element. */
static void test_completion_queues(void **state)
{
	static const size_t cqe[] = {64, 128};
	static const size_t entries[] = {1, 2, 64, 4096};

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		size_t size = cqe[i % 2], n = entries[i / 2];
		wv_auto_free uint8_t *memory = queue(n * size);

		for (size_t k = 1; k <= n; k++)
			memory[k * size - 1] = 0xf0;
		assert_int_equal(read_and_write(memory, n * size), 1);
	}
}

static void put_link(uint8_t *element, size_t next)
{
	element[2] = (uint8_t)(next >> 8);
	element[3] = (uint8_t)next;
}

/* Each element names the next; the last one, none. */
static void test_free_list_of_an_srq(void **state)
{
	static const size_t strides[] = {16, 32, 64, 512};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(strides); i++) {
		size_t bytes = 1024 * strides[i];
		wv_auto_free uint8_t *memory = queue(bytes);

		for (size_t k = 0; k + 1 < 1024; k++)
			put_link(memory + k * strides[i], k + 1);
		assert_int_equal(read_and_write(memory, bytes), 1);
	}
}

/* A list in two parts, as a queue has that waits for page faults. */
static void test_two_free_lists(void **state)
{
	wv_auto_free uint8_t *memory = queue(1024 * 32);

	(void)state;
	for (size_t k = 0; k < 1023; k++)
		if (k != 511)
			put_link(memory + k * 32, k + 1);
	assert_int_equal(read_and_write(memory, 1024 * 32), 2);
}

/* Link 65536 is 0 in 16 bits, and so no mark at all. */
static void test_a_series_that_runs_over(void **state)
{
	wv_auto_free uint8_t *memory = queue((size_t)16 << 17);

	(void)state;
	for (size_t k = 0; k + 1 < 1u << 17; k++)
		put_link(memory + k * 16, k + 1);
	assert_int_equal(read_and_write(memory, (size_t)16 << 17), 2);
}

static void test_a_single_word_anywhere(void **state)
{
	(void)state;
	for (size_t at = 0; at < 64; at++) {
		wv_auto_free uint8_t *memory = queue(64);

		memory[at] = 0xa5;
		assert_int_equal(read_and_write(memory, 64), 1);
	}
}

/* Words that are nothing like a series take one for two; and then there are no more. */
static void test_irregular_contents(void **state)
{
	wv_auto_free uint8_t *memory = queue(8192);
	unsigned int n = 0;

	(void)state;
	for (size_t at = 0; n < 2 * WV_MAX_SERIES; at += 8 + 8 * n, n++) {
		memory[at] = (uint8_t)(1 + 37 * n * n);
		assert_int_equal(read_and_write(memory, 8192), n / 2 + 1);
	}
	memory[8190] = 0x77;
	assert_int_equal(read_and_write(memory, 8192), -E2BIG);
}

static void test_random_contents(void **state)
{
	wv_auto_free uint8_t *memory = queue(4096);
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i < 4096; i++)
		memory[i] = (uint8_t)pseudo_random(&seed);
	assert_int_equal(read_and_write(memory, 4096), -E2BIG);
	for (unsigned int round = 0; round < 2000; round++) { /* a few marks, whatever they are */
		memset(memory, 0, 4096);
		for (unsigned int i = 0; i < round % 12; i++)
			memory[pseudo_random(&seed) % 4096] = (uint8_t)pseudo_random(&seed);
		assert_uint_in_range(read_and_write(memory, 4096), 0, 12);
	}
}

static bool fits(uint32_t offset, uint32_t stride, uint32_t count, size_t bytes)
{
	struct wv_series s = {.offset = offset, .stride = stride, .count = count, .value = 0xffff};
	wv_auto_free uint8_t *memory = NULL;
	bool ok = wv_pattern_check(&s, 1, bytes);

	if (!ok)
		return false;
	memory = queue(bytes); /* of exactly that size: the sanitizer sees what is beyond */
	wv_pattern_write(memory, &s, 1);
	return true;
}

static void test_bounds(void **state)
{
	(void)state;
	assert_true(fits(0, 0, 1, 2));
	assert_false(fits(0, 0, 1, 1));
	assert_true(fits(62, 64, 64, 4096));
	assert_false(fits(62, 64, 65, 4096));
	assert_true(fits(4094, 0, 1, 4096));
	assert_false(fits(4095, 0, 1, 4096));
	assert_false(fits(4096, 0, 1, 4096));
	assert_false(fits(0xfffffffe, 0, 1, 4096));
	assert_false(fits(0xfffffffe, 2, 2, 4096)); /* 2 in 32 bits */
	assert_false(fits(0, 0xfffffffe, 2, 4096));
	assert_false(fits(0, 0xffffffff, 0xffffffff, 4096));
	assert_false(fits(0, 0x80000000, 3, 4096)); /* 0 in 32 bits */
	assert_true(fits(0, 2, 2048, 4096));
}

/* They would say the same word again and again: work for nothing. */
static void test_series_that_stand_still(void **state)
{
	(void)state;
	assert_false(fits(0, 0, 2, 4096));
	assert_false(fits(0, 1, 2, 4096));
	assert_false(fits(0, 0, 0xffffffff, 4096));
	assert_false(fits(0, 2, 0, 4096));
}

static void test_one_series_of_many_is_wrong(void **state)
{
	struct wv_series s[3] = {{.count = 1}, {.offset = 4096, .count = 1}, {.count = 1}};

	(void)state;
	assert_true(wv_pattern_check(s, 1, 4096));
	assert_false(wv_pattern_check(s, 2, 4096));
	assert_false(wv_pattern_check(s, 3, 4096));
	assert_true(wv_pattern_check(s, 0, 0));
}

/* As many words as there are places, and no more: series may not be work without end. */
static void test_more_words_than_places(void **state)
{
	struct wv_series s[2] = {{.stride = 2, .count = 2048}, {.count = 1}};

	(void)state;
	assert_true(wv_pattern_check(s, 1, 4096));
	assert_false(wv_pattern_check(s, 2, 4096));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_completion_queues),
	    cmocka_unit_test(test_free_list_of_an_srq),
	    cmocka_unit_test(test_two_free_lists),
	    cmocka_unit_test(test_a_series_that_runs_over),
	    cmocka_unit_test(test_a_single_word_anywhere),
	    cmocka_unit_test(test_irregular_contents),
	    cmocka_unit_test(test_random_contents),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_series_that_stand_still),
	    cmocka_unit_test(test_one_series_of_many_is_wrong),
	    cmocka_unit_test(test_more_words_than_places),
	};

	return cmocka_run_group_tests_name("contents", tests, NULL, NULL);
}
