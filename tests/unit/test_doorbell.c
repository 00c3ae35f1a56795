/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doorbells of a lease: a write() of the program, which is an ioctl where that can say the
 * same.
 */
#include "preload/lease/read_write.h"

#include "fake_kernel.h"
#include "fixture.h"
#include "preload.h"
#include "preload/core/context.h"
#include "preload/core/process.h"

static struct fake_kernel kernel;
static struct preload preload;

/* What the program writes for a post with @bytes of work requests. Returns errno. */
static int post(size_t bytes)
{
	struct ib_uverbs_cmd_hdr *hdr = calloc(1, sizeof(*hdr) + bytes);
	ssize_t written;

	hdr->command = IB_USER_VERBS_CMD_POST_SEND;
	hdr->in_words = (uint16_t)((sizeof(*hdr) + bytes) / 4);
	errno = 0;
	written =
	    wv_doorbell(wv_context_of(PRELOAD_UFILE), PRELOAD_UFILE, hdr, sizeof(*hdr) + bytes);
	if (written >= 0)
		assert_int_equal(written, sizeof(*hdr) + bytes);
	free(hdr);
	return errno;
}

static int begin(void **state)
{
	(void)state;
	fake_kernel_init(&kernel);
	preload_begin(&preload, &kernel, NULL, NULL);
	wv_context_of(PRELOAD_UFILE)->mode = WV_LEASED;
	return 0;
}

static void test_an_ioctl(void **state)
{
	(void)state;
	post(64);
	assert_int_equal(kernel.issued, 1);
	post(UINT16_MAX - 3);
	assert_int_equal(kernel.issued, 2);
}

/* Cut to the 16 bits of an attribute's length, it would be another command. */
static void test_too_long_for_an_ioctl(void **state)
{
	(void)state;
	assert_int_equal(post(UINT16_MAX + 1), EBADF); /* of write(): the ufile is none */
	assert_int_equal(post(UINT16_MAX + 65), EBADF);
	assert_int_equal(kernel.issued, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_an_ioctl, begin),
	    cmocka_unit_test_setup(test_too_long_for_an_ioctl, begin),
	};

	return cmocka_run_group_tests_name("doorbell", tests, NULL, NULL);
}
