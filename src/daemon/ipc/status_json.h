/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status document (queries.h): what the daemon keeps, for whom, and how it serves.
 */
#pragma once

#include "daemon/ipc/service.h"

#include <jansson.h>

/* Who asks by the administrator's socket: user @who of the functions below. */
#define WV_ADMINISTRATOR ((uid_t)-1)

/* Whether @who may see what belongs to @owner: others than the administrator see their own. */
static inline bool wv_may_see(uid_t who, uid_t owner)
{
	return who == WV_ADMINISTRATOR || who == owner;
}

/* A new document of all that user @who may see; NULL if memory is short. */
json_t *wv_status(const struct wv_service *s, uid_t who);
