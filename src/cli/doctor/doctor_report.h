/* SPDX-License-Identifier: BSD-2-Clause */
/* The findings of `warmverbs doctor`, for people and for programs. */
#pragma once

#include "cli/doctor/doctor_state.h"

#include <stdio.h>

/* Prints a line for each finding, a second one with the remedy, and the verdict. */
void wv_doctor_text(const struct wv_doctor *d, FILE *out);

/* Returns a new document; NULL if out of memory. */
json_t *wv_doctor_json(const struct wv_doctor *d);
