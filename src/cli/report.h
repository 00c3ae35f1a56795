/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of a traced run: for people, for programs, and in one line.
 */
#pragma once

#include "cli/summary.h"

#include <jansson.h>
#include <stdio.h>

/* `warmverbs explain`. 0 or -ENOMEM. */
int wv_report_text(const struct wv_run *run, FILE *out);

/* `warmverbs explain --json`. Returns a new document; NULL if out of memory. */
json_t *wv_report_json(const struct wv_run *run);

/* `warmverbs run --summary`. Returns 0. */
int wv_report_line(const struct wv_run *run, FILE *out);
