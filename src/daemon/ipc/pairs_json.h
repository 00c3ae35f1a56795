/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs, as the command line is told of them. */
#pragma once

#include "daemon/ipc/service.h"

#include <jansson.h>

/* How many pairs there are and were; null where none are made. NULL: memory is short. */
json_t *wv_pairs_json(const struct wv_service *s);
