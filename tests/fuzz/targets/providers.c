/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of providers that lies next to the daemon's socket. */
#include "fuzz.h"

#include "preload/client/provider_list.h"
#include "preload/core/lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/fuzz-providers-XXXXXX", list[64];

static void remove_folder(void)
{
	remove_tree(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char socket[64];

	(void)argc;
	(void)argv;
	assert_non_null(mkdtemp(folder));
	atexit(remove_folder);
	snprintf(socket, sizeof(socket), "%s/socket", folder);
	snprintf(list, sizeof(list), "%s/" WV_PROVIDERS_FILE, folder);
	setenv(WV_SOCKET_ENV, socket, 1);
	return 0;
}

static void write_list(const uint8_t *data, size_t bytes)
{
	wv_auto_fd fd = open(list, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char nodes[] = "/dev/infiniband/";
	struct wv_build_id id;
	char path[48];

	write_list(data, bytes);
	wv_provider_list_read();
	assert_int_equal(wv_provider_list_known(), bytes > 0);
	wv_provider_list_load(false); /* loads nothing: that is not for strangers to ask */
	if (!wv_provider_list_only(path, sizeof(path)))
		return 0;
	assert_memory_equal(path, nodes, strlen(nodes));
	wv_lock();
	wv_provider_list_id(path, &id);
	wv_unlock();
	return 0;
}
