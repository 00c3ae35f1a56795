/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

static __thread bool was_short;

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		was_short = true;
	return memory;
}

/* Before any document is made: jansson must free what it allocated by the same functions. */
__attribute__((constructor)) static void watch_memory(void)
{
	json_set_alloc_funcs(allocate, free);
}

void wv_json_begin(void)
{
	was_short = false;
}

bool wv_json_was_short(void)
{
	return was_short;
}
