/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of `warmverbs explain`, for programs.
 */
#pragma once

#include "cli/summary.h"

#include <jansson.h>

/* Returns a new document; NULL if out of memory. */
json_t *wv_report_json(const struct wv_run *run);
