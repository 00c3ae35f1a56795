/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of `warmverbs explain`, for people.
 */
#pragma once

#include "cli/summary.h"

#include <stdio.h>

/* 0 or -ENOMEM. */
int wv_report_text(const struct wv_run *run, FILE *out);
