/* SPDX-License-Identifier: BSD-2-Clause */
/* A record from a program, and the recipe and the lease that the daemon makes of it. */
#include "fuzz.h"

#include "tamper.h"
#include "through.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	through_begin();
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned int seed)
{
	return fuzz_mutate_cmdlog(data, bytes, capacity, seed, WV_RECORD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wv_auto_free struct wv_cmdlog *record = copy_exactly(data, bytes);
	unsigned int fds = count_fds();

	tamper_seed(1);
	through_record(record, bytes);
	assert_int_equal(count_fds(), fds);
	return 0;
}
