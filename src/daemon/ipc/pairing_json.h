/* SPDX-License-Identifier: BSD-2-Clause */
/* What the documents (queries.h) say of pairs and peers. */
#pragma once

#include "daemon/ipc/service.h"

#include <jansson.h>

/* A new value: of the pairs of this node; null if there are none. NULL: memory is short. */
json_t *wv_pairs_json(const struct wv_service *s);

/* The same: of the peers, as user @who may see them. */
json_t *wv_peers_json(const struct wv_service *s, uid_t who);
