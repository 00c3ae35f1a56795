/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"
#include "tamper.h"

/* Most changes of the header only end the check early. */
static void repair(uint8_t *data, size_t bytes, enum wv_form form)
{
	struct wv_cmdlog head;

	if (bytes < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	head.magic = WV_CMDLOG_MAGIC;
	head.format = WV_CMDLOG_FORMAT;
	head.form = (uint16_t)form;
	head.bytes = (uint32_t)bytes;
	memcpy(data, &head, sizeof(head));
}

size_t fuzz_mutate_cmdlog(uint8_t *data, size_t bytes, size_t capacity, unsigned int seed,
			  enum wv_form form)
{
	wv_auto_free struct wv_cmdlog *cmdlog = copy_exactly(data, bytes);
	wv_auto_free struct wv_cmdlog *changed = NULL;

	tamper_seed(seed);
	if (below(4) && bytes >= sizeof(*cmdlog) && !wv_cmdlog_check(cmdlog, bytes, form)) {
		changed = tampered(cmdlog);
		bytes = changed->bytes < capacity ? changed->bytes : capacity;
		memcpy(data, changed, bytes);
	} else {
		bytes = LLVMFuzzerMutate(data, bytes, capacity);
	}
	if (below(8))
		repair(data, bytes, form);
	return bytes;
}
