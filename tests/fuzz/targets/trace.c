/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace from a program that runs under `warmverbs explain`, and the reports made of it. */
#include "fuzz.h"

#include "cli/report.h"
#include "cli/trace_file.h"

#include <errno.h>

static void report(const struct wv_run *run)
{
	json_t *json = wv_report_json(run), *again;
	char *text;

	assert_int_equal(wv_report_text(run, fuzz_nowhere()), 0);
	assert_non_null(json);
	text = json_dumps(json, 0);
	again = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_equal(json, again));
	assert_int_equal(json_array_size(json_object_get(json, "events")), run->n);
	json_decref(again);
	free(text);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wv_run run = {.lease_wanted = bytes % 2};
	wv_auto_fd file = fuzz_file(data, bytes);
	struct wv_trace *records;
	int err = wv_trace_read(file, &records, &run.n);

	assert_true(!err || err == -EPROTO);
	if (err)
		return 0;
	run.records = records;
	report(&run);
	free(records);
	return 0;
}
