/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command logs that were tampered with, through everything that the daemon and the preload do with
 * them: whatever is accepted must be walkable, harmless to carry out, and never leak a descriptor.
 * The sanitizers watch; without them this is only a test that nothing crashes or hangs.
 *
 * WV_HOSTILE_SEED and WV_HOSTILE_SECONDS change where it begins and how long it goes on.
 */
#include "tamper.h"
#include "through.h"

#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double setting(const char *name, double otherwise)
{
	const char *value = getenv(name);

	return value ? strtod(value, NULL) : otherwise;
}

static void test_tampered_tapes(void **state)
{
	double until = now() + setting("WV_HOSTILE_SECONDS", 3);
	const struct through_counts *counts = &through_counts;
	unsigned int fds = count_fds();
	struct wv_cmdlog **originals;
	unsigned long n = 0;

	(void)state;
	tamper_seed((uint64_t)setting("WV_HOSTILE_SEED", 1));
	originals = through_begin();
	while (now() < until) {
		wv_auto_free struct wv_cmdlog *cmdlog =
		    tampered(originals[below(THROUGH_ORIGINALS)]);

		n++;
		through_record(cmdlog, cmdlog->bytes);
	}
	through_end();
	assert_int_equal(count_fds(), fds);
	printf("%lu command logs, %lu records, %lu recipes, %lu leases, %lu steps adopted\n", n,
	       counts->records, counts->recipes, counts->leases, counts->adopted);
	/* The loop is worth nothing if nearly all is thrown out at the door. */
	assert_true(counts->records > n / 4);
	assert_true(counts->recipes > counts->records / 4);
	assert_true(counts->leases > counts->recipes / 4);
	assert_true(counts->adopted > counts->leases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tampered_tapes),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
