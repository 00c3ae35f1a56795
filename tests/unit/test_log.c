/* SPDX-License-Identifier: BSD-2-Clause */
/* The log's worker, while nobody reads the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/log.h"
#include "daemon/loop/log_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES 1000

struct pipe_as_stderr {
	int real;
	FILE *reader;
};

static void redirect(struct pipe_as_stderr *p)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fcntl(ends[1], F_SETPIPE_SZ, 4096);
	p->real = dup(STDERR_FILENO);
	p->reader = fdopen(ends[0], "r");
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	wv_log_init(WV_NOTICE);
}

static void restore(struct pipe_as_stderr *p)
{
	dup2(p->real, STDERR_FILENO);
	close(p->real);
	fclose(p->reader);
}

/* Reads lines until one holds @last; how many there were, and how many of them tell of a loss. */
static unsigned int read_until(const struct pipe_as_stderr *p, const char *last, unsigned int *lost)
{
	wv_auto_free char *line = NULL;
	size_t capacity = 0;
	unsigned int n = 0;

	*lost = 0;
	do {
		assert_true(getline(&line, &capacity, p->reader) > 0);
		*lost += strstr(line, "messages were lost here") != NULL;
		n++;
	} while (!strstr(line, last));
	return n;
}

static void test_nobody_waits_for_the_reader(void **state)
{
	struct wv_workers *workers;
	struct pipe_as_stderr p;
	sd_event *event;
	unsigned int lost, n;

	(void)state;
	redirect(&p);
	assert_int_equal(sd_event_new(&event), 0);
	assert_int_equal(wv_workers_start(&workers, event), 0);
	assert_int_equal(wv_log_line_open(workers), 0);
	for (unsigned int i = 0; i < MESSAGES; i++) /* much more than the pipe holds */
		wv_log(WV_NOTICE, "message %u of a long log, with some words to fill the pipe", i);
	n = read_until(&p, "message 100 ", &lost);
	assert_int_equal(n, 101);
	assert_int_equal(lost, 0);
	wv_log(WV_NOTICE, "the last one");
	n = read_until(&p, "the last one", &lost);
	assert_uint_in_range(n, 10, MESSAGES - 101);
	assert_true(lost > 0);
	wv_log_line_close();
	wv_workers_stop(workers);
	sd_event_unref(event);
	restore(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nobody_waits_for_the_reader),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
