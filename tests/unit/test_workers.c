/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of works, and the threads that carry them out. */
#include "fixture.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/loop/workers.h"

#include <sched.h>
#include <semaphore.h>
#include <signal.h>

#define SECOND_US INT64_C(1000000)

struct bench {
	sd_event *event;
	struct wv_workers *workers;
	unsigned int fds_before, n_settled;
};

/* A work that runs until it is let go. */
struct slow {
	struct wv_work work; /* first */
	sem_t running, let_go;
	bool ran, done, left;
	sigset_t blocked;
};

static void run(struct wv_work *work)
{
	struct slow *slow = (struct slow *)work;

	pthread_sigmask(SIG_SETMASK, NULL, &slow->blocked);
	sem_post(&slow->running);
	sem_wait(&slow->let_go);
	slow->ran = true;
}

static void done(struct wv_work *work)
{
	((struct slow *)work)->done = true;
}

static void left(struct wv_work *work)
{
	__atomic_store_n(&((struct slow *)work)->left, true, __ATOMIC_RELEASE);
}

static void init(struct slow *slow)
{
	*slow = (struct slow){.work = {.run = run, .done = done, .left = left}};
	sem_init(&slow->running, 0, 0);
	sem_init(&slow->let_go, 0, 0);
}

static void settled(void *arg)
{
	struct bench *b = arg;

	b->n_settled++;
}

static struct wv_line *open_line(struct bench *b, unsigned int own, unsigned int most)
{
	const struct wv_line_options options = {
	    .own = own, .most = most, .settled = settled, .arg = b};
	struct wv_line *line;

	assert_int_equal(wv_line_open(b->workers, &options, &line), 0);
	return line;
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->fds_before = count_fds();
	assert_int_equal(sd_event_new(&b->event), 0);
	assert_int_equal(wv_workers_start(&b->workers, b->event), 0);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	wv_workers_stop(b->workers);
	sd_event_unref(b->event);
	assert_int_equal(count_fds(), b->fds_before);
	free(b);
	return 0;
}

static bool is_running(struct slow *slow, int64_t patience_us)
{
	int64_t until = wv_steady_clock() + patience_us;

	while (sem_trywait(&slow->running)) {
		if (wv_steady_clock() > until)
			return false;
		sched_yield();
	}
	return true;
}

static void test_the_loop_hears_of_the_end(void **state)
{
	struct bench *b = *state;
	struct wv_line *line = open_line(b, 1, 1);
	struct slow slow;

	init(&slow);
	wv_line_give(line, &slow.work);
	assert_true(is_running(&slow, 10 * SECOND_US));
	assert_int_equal(wv_line_busy(line), 1);
	sem_post(&slow.let_go);
	while (!slow.done)
		sd_event_run(b->event, UINT64_MAX);
	assert_true(slow.ran);
	assert_int_equal(b->n_settled, 1);
	assert_int_equal(wv_line_busy(line), 0);
	assert_int_equal(sigismember(&slow.blocked, SIGTERM), 1);
	assert_int_equal(wv_line_close(&line, 0), 0);
	assert_null(line);
}

static void test_one_after_another(void **state)
{
	struct bench *b = *state;
	struct wv_line *line = open_line(b, 1, 1);
	struct slow works[3];

	for (int i = 0; i < 3; i++) {
		init(&works[i]);
		wv_line_give(line, &works[i].work);
	}
	for (int i = 0; i < 3; i++) {
		assert_true(is_running(&works[i], 10 * SECOND_US));
		assert_false(i < 2 && is_running(&works[i + 1], 1000));
		sem_post(&works[i].let_go);
	}
	assert_int_equal(wv_line_close(&line, 10 * SECOND_US), 0);
	assert_true(works[2].done);
}

/* A line that hangs with all that it may have leaves the others theirs. */
static void test_nobody_takes_a_line_s_own_threads(void **state)
{
	struct bench *b = *state;
	struct wv_line *greedy = open_line(b, 1, 4), *modest = open_line(b, 2, 2);
	struct slow works[6], own[2];

	for (int i = 0; i < 6; i++) {
		init(&works[i]);
		wv_line_give(greedy, &works[i].work);
	}
	for (int i = 0; i < 4; i++)
		assert_true(is_running(&works[i], 10 * SECOND_US));
	assert_false(is_running(&works[4], 10000));
	for (int i = 0; i < 2; i++) {
		init(&own[i]);
		wv_line_give(modest, &own[i].work);
		assert_true(is_running(&own[i], 10 * SECOND_US));
		sem_post(&own[i].let_go);
	}
	for (int i = 0; i < 6; i++)
		sem_post(&works[i].let_go);
	assert_int_equal(wv_line_close(&modest, 10 * SECOND_US), 0);
	assert_int_equal(wv_line_close(&greedy, 10 * SECOND_US), 0);
	assert_true(works[5].done);
}

/* What waits is its owner's again, and what runs is told that nobody waited. */
static void test_the_end_does_not_wait_for_ever(void **state)
{
	struct bench *b = *state;
	struct wv_line *line = open_line(b, 1, 1);
	struct slow hangs, waits;

	init(&hangs);
	init(&waits);
	wv_line_give(line, &hangs.work);
	wv_line_give(line, &waits.work);
	assert_true(is_running(&hangs, 10 * SECOND_US));
	assert_int_equal(wv_line_close(&line, 1000), 1);
	assert_true(waits.done);
	assert_false(waits.ran);
	wv_workers_stop(b->workers);
	b->workers = NULL;
	assert_false(hangs.done);
	sem_post(&hangs.let_go);
	/* The last one frees everything. */
	while (count_fds() != b->fds_before + 1)
		sched_yield();
	assert_false(hangs.done);
	assert_true(__atomic_load_n(&hangs.left, __ATOMIC_ACQUIRE));
}

/* The work of a line without @done, which gives itself again. */
struct counter {
	struct wv_work work; /* first */
	struct wv_line *line;
	int n;
};

static void count_down(struct wv_work *work)
{
	struct counter *counter = (struct counter *)work;

	if (--counter->n)
		wv_line_give(counter->line, work);
}

static void test_works_that_give_themselves_again(void **state)
{
	struct bench *b = *state;
	struct wv_line *line = open_line(b, 1, 2);
	struct counter counter = {.work = {.run = count_down}, .line = line, .n = 100};

	wv_line_give(line, &counter.work);
	while (wv_line_busy(line))
		sched_yield();
	assert_int_equal(counter.n, 0);
	assert_int_equal(wv_line_close(&line, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_the_loop_hears_of_the_end),	  TEST(test_one_after_another),
	    TEST(test_nobody_takes_a_line_s_own_threads), TEST(test_the_end_does_not_wait_for_ever),
	    TEST(test_works_that_give_themselves_again),
	};

	return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
