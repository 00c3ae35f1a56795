/* SPDX-License-Identifier: BSD-2-Clause */
/* A program's file, whose identity is read before the program is started. */
#include "fuzz.h"

#include "base/build_id.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct wv_build_id none;
	wv_auto_fd file = fuzz_file(data, bytes);
	struct wv_build_id id;
	int err = wv_id_of_file(file, &id);

	assert_true(!err || err == -ENOEXEC);
	if (!err)
		assert_memory_not_equal(&id, &none, sizeof(id));
	return 0;
}
