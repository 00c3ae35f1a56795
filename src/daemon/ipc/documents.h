/* SPDX-License-Identifier: BSD-2-Clause */
/* Of documents for the command line (queries.h): their numbers, and who may see what. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Who asks by the administrator's socket. */
#define WV_ADMINISTRATOR ((uid_t)-1)

/* Whether @who may see what belongs to @owner: others than the administrator see their own. */
static inline bool wv_may_see(uid_t who, uid_t owner)
{
	return who == WV_ADMINISTRATOR || who == owner;
}

/* @value as JSON, whose integers are signed. NULL: memory is short. */
static inline json_t *wv_json_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}
