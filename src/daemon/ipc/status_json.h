/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status document (queries.h): what the daemon keeps, for whom, and how it serves.
 */
#pragma once

#include "daemon/ipc/service.h"

#include <jansson.h>

/* A new document of all that user @who may see; NULL if memory is short. */
json_t *wv_status(const struct wv_service *s, uid_t who);
