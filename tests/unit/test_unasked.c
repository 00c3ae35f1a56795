/* SPDX-License-Identifier: BSD-2-Clause */
/* For which devices a process asks for leases. */
#include "base/base.h"
#include "fixture.h"
#include "preload/client/daemon_connection.h"
#include "preload/client/provider_list.h"
#include "preload/core/lock.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <unistd.h>

static const char devices[] = "uverbs0 librxe-rdmav34.so\n"
			      "uverbs1 libmlx5-rdmav34.so\n"
			      "uverbs2 libmlx55-rdmav34.so\n";

/* The list that the daemon leaves beside its socket, in @folder, which is made. */
static void write_list(char *folder)
{
	char path[64];
	FILE *out;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/socket", folder);
	setenv("WARMVERBS_SOCKET", path, 1);
	snprintf(path, sizeof(path), "%s/" WV_PROVIDERS_FILE, folder);
	out = fopen(path, "we");
	assert_non_null(out);
	fputs(devices, out);
	assert_int_equal(fclose(out), 0);
	wv_provider_list_read();
	unlink(path);
	rmdir(folder);
	assert_true(wv_provider_list_known());
}

static enum wv_reason why_unasked(const char *path)
{
	enum wv_reason reason;

	wv_lock();
	reason = wv_client_why_unasked(path);
	wv_unlock();
	return reason;
}

/* libmlx5 alone reads the variable. */
static void test_chosen_queues_of_one_provider(void **state)
{
	char folder[] = "/tmp/test_unasked.XXXXXX";

	(void)state;
	write_list(folder);
	assert_int_equal(why_unasked("/dev/infiniband/uverbs1"), WV_REASON_NONE);
	setenv("MLX_QP_ALLOC_TYPE", "ANON", 1);
	assert_int_equal(why_unasked("/dev/infiniband/uverbs0"), WV_REASON_NONE);
	assert_int_equal(why_unasked("/dev/infiniband/uverbs1"), WV_REASON_QUEUES);
	assert_int_equal(why_unasked("/dev/infiniband/uverbs2"), WV_REASON_NONE);
	assert_int_equal(why_unasked(NULL), WV_REASON_NONE);
	unsetenv("MLX_QP_ALLOC_TYPE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_chosen_queues_of_one_provider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
