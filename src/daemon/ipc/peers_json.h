/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The document of peers (queries.h).
 */
#pragma once

#include "daemon/ipc/service.h"

#include <jansson.h>

/* A new document of all peers, as user @who may see them; NULL if memory is short. */
json_t *wv_peers_json(const struct wv_service *s, uid_t who);
