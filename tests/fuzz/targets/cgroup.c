/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/cgroup of a client, by which the daemon tells containers apart; users name cgroups. */
#include "fuzz.h"

#include "daemon/tenants/container.h"

static void check_path(const char *path)
{
	size_t length = wv_container_path(path);

	assert_true(length <= strlen(path));
	assert_true(!length == (*path != '/'));
	assert_true(!length || !path[length] || path[length] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wv_auto_fd file = fuzz_file(data, bytes);
	wv_auto_free char *text = calloc(1, bytes + 1);
	char path[32];

	memcpy(text, data, bytes);
	for (const char *at = text; *at; at += strspn(at, "\n")) {
		check_path(at + strspn(at, "0:"));
		at += strcspn(at, "\n");
	}
	fuzz_path(file, path);
	assert_int_equal(wv_container_in(path), wv_container_in(path));
	return 0;
}
