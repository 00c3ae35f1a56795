/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run in one line, for `run --summary`.
 */
#pragma once

#include "cli/summary.h"

#include <stdio.h>

/* Returns 0. */
int wv_summary_line(const struct wv_run *run, FILE *out);
