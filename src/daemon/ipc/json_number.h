/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in the documents for the command line. */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* @value as JSON, whose integers are signed. NULL: memory is short. */
static inline json_t *wv_json_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}
