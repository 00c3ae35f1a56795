/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child takes for a start, and what not. */
#include "fixture.h"

#include "base/base.h"
#include "template/start.h"

#include <errno.h>

static const char strings[] = "/bin/program\0program\0-v\0A=1\0B=";
static const int numbers[] = {0, 1, 7};
static const int fds[] = {20, 21, 22, 23, 24, 25};

/* Returns its bytes. */
static size_t compose(struct wv_start *m)
{
	*m = (struct wv_start){.magic = WV_START_MAGIC,
			       .version = WV_START_VERSION,
			       .n_fds = WV_ARRAY_SIZE(numbers),
			       .argc = 2,
			       .envc = 2,
			       .thread = 7};
	memcpy(m->fds, numbers, sizeof(numbers));
	memcpy(m->strings, strings, sizeof(strings));
	return sizeof(*m) + sizeof(strings);
}

static struct {
	struct wv_start start;
	char strings[sizeof(strings) + 8];
} message;

static void test_a_start(void **state)
{
	size_t bytes = compose(&message.start);
	struct wv_started s;

	(void)state;
	assert_int_equal(wv_start_read(&message.start, bytes, fds, WV_ARRAY_SIZE(fds), &s), 0);
	assert_string_equal(s.path, "/bin/program");
	assert_int_equal(s.argc, 2);
	assert_string_equal(s.argv[0], "program");
	assert_string_equal(s.argv[1], "-v");
	assert_int_equal((intptr_t)s.argv[-1], 2);
	assert_null(s.argv[2]);
	assert_string_equal(s.environ[0], "A=1");
	assert_string_equal(s.environ[1], "B=");
	assert_null(s.environ[2]);
	assert_ptr_equal(s.auxv, s.environ + 3);
	assert_int_equal(s.cwd, 20);
	assert_int_equal(s.program, 21);
	assert_int_equal(s.proof, 22);
	assert_int_equal(s.n_fds, 3);
	assert_memory_equal(s.from, fds + 3, sizeof(numbers));
	assert_memory_equal(s.to, numbers, sizeof(numbers));
	wv_start_free(&s);
}

static void wrong_magic(struct wv_start *m)
{
	m->magic++;
}
static void wrong_version(struct wv_start *m)
{
	m->version++;
}
static void no_arguments(struct wv_start *m)
{
	m->argc = 0, m->envc = 4;
}
static void more_strings(struct wv_start *m)
{
	m->envc++;
}
static void fewer_strings(struct wv_start *m)
{
	m->envc--;
}
static void sum_overflows(struct wv_start *m)
{
	m->argc = ~0U, m->envc = 5;
}
static void more_numbers(struct wv_start *m)
{
	m->n_fds++;
}
static void too_many_numbers(struct wv_start *m)
{
	m->n_fds = WV_START_FDS + 1;
}
static void a_number_twice(struct wv_start *m)
{
	m->fds[1] = m->fds[0];
}
static void numbers_that_fall(struct wv_start *m)
{
	m->fds[2] = 0;
}
static void a_negative_number(struct wv_start *m)
{
	m->fds[0] = -1;
}
static void no_thread(struct wv_start *m)
{
	m->thread = 0;
}
static void a_negative_thread(struct wv_start *m)
{
	m->thread = -7;
}
static void cut_to_a_thread(struct wv_start *m)
{
	m->thread += INT64_C(1) << 32;
}
static void no_end(struct wv_start *m)
{
	m->strings[sizeof(strings) - 1] = 'x';
}

static void test_what_is_no_start(void **state)
{
	void (*const wrong[])(struct wv_start *) = {
	    wrong_magic,       wrong_version, no_arguments,	 more_strings,	  fewer_strings,
	    sum_overflows,     more_numbers,  too_many_numbers,	 a_number_twice,  numbers_that_fall,
	    a_negative_number, no_thread,     a_negative_thread, cut_to_a_thread, no_end,
	};
	struct wv_started s;

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		size_t bytes = compose(&message.start);

		wrong[i](&message.start);
		assert_int_equal(wv_start_read(&message.start, bytes, fds, WV_ARRAY_SIZE(fds), &s),
				 -EPROTO);
	}
}

static void test_part_of_a_start(void **state)
{
	size_t bytes = compose(&message.start);
	struct wv_started s;

	(void)state;
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(wv_start_read(&message.start, i, fds, WV_ARRAY_SIZE(fds), &s),
				 -EPROTO);
	assert_int_equal(wv_start_read(&message.start, bytes, fds, WV_ARRAY_SIZE(fds) - 1, &s),
			 -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_start),
	    cmocka_unit_test(test_what_is_no_start),
	    cmocka_unit_test(test_part_of_a_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
