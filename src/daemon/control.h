/*
 * Answers for the command line.
 */
#pragma once

#include "daemon/client.h"

#include <jansson.h>

/* Root sees and may do all; others, what is theirs. */
static inline bool wv_may_see(uid_t who, uid_t owner)
{
	return who == 0 || who == owner;
}

/* A new document of all that user @who may see; NULL if memory is short. */
json_t *wv_status(struct wv_server *s, uid_t who);
