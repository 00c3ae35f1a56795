/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer of the daemon, as the command line prints it. */
#include "fuzz.h"

#include "cli/answer_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	json_t *json = json_loadb((const char *)data, bytes, 0, NULL);

	if (json_is_object(json)) {
		wv_print_status(json, fuzz_nowhere());
		wv_print_recipe(json, fuzz_nowhere());
		wv_print_recipes(json, fuzz_nowhere());
		wv_print_forgotten(json, fuzz_nowhere());
	}
	json_decref(json);
	return 0;
}
